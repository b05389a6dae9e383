//! The allocator of this process: what it is linked with, and whose blocks are handed out.

#[cfg(feature = "jemalloc")]
use jemalloc as linked;
#[cfg(all(feature = "mimalloc", not(feature = "jemalloc")))]
use mimalloc as linked;

/// The allocator that this process was found to have: `system`, or its name and version where Rust's blocks and C's are
/// its own.
pub(crate) fn found() -> String {
    #[cfg(any(feature = "jemalloc", feature = "mimalloc"))]
    {
        let rusts = vec![0_u8; BLOCK_BYTES];
        // SAFETY: any size may be asked for.
        let cs = unsafe { libc::malloc(BLOCK_BYTES) };
        let owned = [linked::owns(rusts.as_ptr().cast()), linked::owns(cs)];
        // SAFETY: it came from `malloc` just now.
        unsafe { libc::free(cs) };
        match owned {
            [true, true] => linked::version(),
            [true, false] => format!("{} for Rust, and the system's for C", linked::version()),
            [false, _] => "system".to_owned(),
        }
    }
    #[cfg(not(any(feature = "jemalloc", feature = "mimalloc")))]
    "system".to_owned()
}

/// What is allocated to see whose it is.
#[cfg(any(feature = "jemalloc", feature = "mimalloc"))]
const BLOCK_BYTES: usize = 4096;

#[cfg(feature = "jemalloc")]
mod jemalloc {
    use std::{
        ffi::{CStr, c_char, c_uint, c_void},
        mem, ptr,
    };

    use tikv_jemalloc_sys::mallctl;

    #[global_allocator]
    static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

    /// Whether the block is in one of jemalloc's arenas.
    pub(super) fn owns(block: *const c_void) -> bool {
        let (mut arena, mut arena_bytes): (c_uint, _) = (0, mem::size_of::<c_uint>());
        let mut asked = block;
        // SAFETY: the name ends with a zero; both values have the types that this name has (jemalloc(3)).
        let error = unsafe {
            mallctl(
                c"arenas.lookup".as_ptr(),
                (&raw mut arena).cast(),
                &raw mut arena_bytes,
                (&raw mut asked).cast(),
                mem::size_of::<*const c_void>(),
            )
        };
        error == 0
    }

    pub(super) fn version() -> String {
        let (mut text, mut bytes): (*const c_char, _) =
            (ptr::null(), mem::size_of::<*const c_char>());
        // SAFETY: as above.
        let error = unsafe {
            mallctl(
                c"version".as_ptr(),
                (&raw mut text).cast(),
                &raw mut bytes,
                ptr::null_mut(),
                0,
            )
        };
        if error != 0 || text.is_null() {
            return "jemalloc".to_owned();
        }
        // SAFETY: jemalloc gives a string that lives for ever.
        let text = unsafe { CStr::from_ptr(text) }.to_string_lossy();
        // After the number: the commit.
        format!("jemalloc {}", text.split('-').next().unwrap_or_default())
    }
}

#[cfg(all(feature = "mimalloc", not(feature = "jemalloc")))]
mod mimalloc {
    use std::ffi::c_void;

    #[global_allocator]
    static ALLOCATOR: ::mimalloc::MiMalloc = ::mimalloc::MiMalloc;

    /// Whether the block is in mimalloc's heap.
    pub(super) fn owns(block: *const c_void) -> bool {
        // SAFETY: the block is not read.
        unsafe { libmimalloc_sys::mi_is_in_heap_region(block) }
    }

    /// Of its number, two digits each are minor version and patch.
    pub(super) fn version() -> String {
        // SAFETY: it only gives a number.
        let number = unsafe { libmimalloc_sys::mi_version() };
        let (major, minor, patch) = (number / 10_000, number / 100 % 100, number % 100);
        format!("mimalloc {major}.{minor}.{patch}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_of_rust_and_of_c_come_from_the_allocator_that_is_linked() {
        let linked = if cfg!(feature = "jemalloc") {
            "jemalloc 5."
        } else if cfg!(feature = "mimalloc") {
            "mimalloc 3."
        } else {
            "system"
        };
        let found = found();
        assert!(found.starts_with(linked), "{found}");
        assert_eq!(found.contains("system"), linked == "system", "{found}");
    }
}
