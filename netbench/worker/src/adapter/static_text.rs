use std::ffi::{CStr, c_char};

/// A text that a function of a C library returns, or none: a text that the library never frees.
#[repr(transparent)]
#[derive(Debug, Clone, Copy)]
pub struct StaticText(*const c_char);

impl StaticText {
    /// Returns the text, if there is one and it is UTF-8.
    pub fn get(self) -> Option<&'static str> {
        if self.0.is_null() {
            return None;
        }
        // SAFETY: only a library makes texts, which end with a zero byte and live as long as the process.
        unsafe { CStr::from_ptr(self.0) }.to_str().ok()
    }
}
