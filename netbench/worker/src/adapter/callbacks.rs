use std::{
    ffi::c_void,
    io::{self, IoSlice, Read, Write},
    ops::{Deref, DerefMut},
    slice,
};

/// A value at a fixed address, to which a C library has a pointer. The library must use the pointer only in calls that
/// borrow the value's owner mutably, and not after the value is dropped.
#[derive(Debug)]
pub struct Lent<T>(*mut T);

// SAFETY: the value is owned, as in a box.
unsafe impl<T: Send> Send for Lent<T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for Lent<T> {}

impl<T> Lent<T> {
    /// Allocates a value.
    pub fn new(value: T) -> Self {
        Self(Box::into_raw(Box::new(value)))
    }

    /// Returns the pointer for the library.
    pub fn pointer(&self) -> *mut c_void {
        self.0.cast()
    }

    /// Calls `read` with the value and the library's buffer, in a callback.
    ///
    /// # Safety
    /// The value's pointer must be from [`Self::pointer`], and the buffer must have as many initialized bytes. No other
    /// code may use either of them during the call.
    pub unsafe fn read_into<R>(
        value: *mut c_void,
        buffer: *mut c_void,
        bytes: usize,
        read: impl FnOnce(&mut T, &mut [u8]) -> R,
    ) -> R {
        // SAFETY: the caller guarantees it.
        let buffer = unsafe { slice::from_raw_parts_mut(buffer.cast(), bytes) };
        // SAFETY: as above.
        read(unsafe { &mut *value.cast() }, buffer)
    }

    /// Calls `write` with the value and the library's data, in a callback.
    ///
    /// # Safety
    /// The conditions of [`Self::read_into`] must hold.
    pub unsafe fn write_from<D, R>(
        value: *mut c_void,
        data: *const D,
        count: usize,
        write: impl FnOnce(&mut T, &[D]) -> R,
    ) -> R {
        // SAFETY: the caller guarantees it.
        let data = unsafe { slice::from_raw_parts(data, count) };
        // SAFETY: as above.
        write(unsafe { &mut *value.cast() }, data)
    }
}

impl<T> Deref for Lent<T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: `new` allocated it, and the library uses it only in calls, which borrow its owner mutably.
        unsafe { &*self.0 }
    }
}

impl<T> DerefMut for Lent<T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as above.
        unsafe { &mut *self.0 }
    }
}

impl<T> Drop for Lent<T> {
    fn drop(&mut self) {
        // SAFETY: `new` allocated it, and no other code frees it.
        drop(unsafe { Box::from_raw(self.0) });
    }
}

/// A transport that a C library reads and writes through callbacks, with the results of the callbacks, because the
/// library reports less than they do.
#[derive(Debug)]
pub struct CallbackTransport<T> {
    transport: T,
    is_blocked: bool,
    has_ended: bool,
    error: Option<io::Error>,
}

/// The reason why a callback has transferred no data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotTransferred {
    /// The transport has neither data nor room.
    Blocked,
    /// The transport has failed, with this number of the operating system, if the error has one.
    Failed(Option<i32>),
}

impl<T> CallbackTransport<T> {
    /// Wraps a transport.
    pub fn new(transport: T) -> Self {
        Self {
            transport,
            is_blocked: false,
            has_ended: false,
            error: None,
        }
    }

    /// Returns the transport.
    pub fn transport_mut(&mut self) -> &mut T {
        &mut self.transport
    }

    /// Begins a call of the library: the transport counts as blocked only if a callback of this call finds it so.
    pub fn begin_call(&mut self) {
        self.is_blocked = false;
    }

    /// Returns whether the transport was blocked in this call of the library.
    pub fn is_blocked(&self) -> bool {
        self.is_blocked
    }

    /// Returns whether the data of the transport have ended.
    pub fn has_ended(&self) -> bool {
        self.has_ended
    }

    /// Returns the error of the transport, once.
    pub fn take_error(&mut self) -> Option<io::Error> {
        self.error.take()
    }

    fn finish(&mut self, result: io::Result<usize>) -> Result<usize, NotTransferred> {
        result.map_err(|error| {
            if error.kind() == io::ErrorKind::WouldBlock {
                self.is_blocked = true;
                return NotTransferred::Blocked;
            }
            let code = error.raw_os_error();
            self.error = Some(error);
            NotTransferred::Failed(code)
        })
    }
}

impl<T: Read> CallbackTransport<T> {
    /// Reads for a callback.
    ///
    /// # Errors
    /// The transport is blocked or has failed.
    pub fn read(&mut self, buffer: &mut [u8]) -> Result<usize, NotTransferred> {
        let result = self.transport.read(buffer);
        self.has_ended |= !buffer.is_empty() && matches!(result, Ok(0));
        self.finish(result)
    }
}

impl<T: Write> CallbackTransport<T> {
    /// Writes for a callback.
    ///
    /// # Errors
    /// The transport is blocked or has failed.
    pub fn write(&mut self, bytes: &[u8]) -> Result<usize, NotTransferred> {
        let result = self.transport.write(bytes);
        self.finish(result)
    }

    /// Writes several slices for a callback.
    ///
    /// # Errors
    /// The transport is blocked or has failed.
    pub fn write_vectored(&mut self, slices: &[IoSlice<'_>]) -> Result<usize, NotTransferred> {
        let result = self.transport.write_vectored(slices);
        self.finish(result)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Transport = CallbackTransport<io::Cursor<Vec<u8>>>;

    #[test]
    fn callbacks_use_the_lent_transport() {
        let mut lent = Lent::new(Transport::new(io::Cursor::new(b"abcd".to_vec())));
        let (mut buffer, pointer) = ([0; 2], lent.pointer());
        // SAFETY: the pointer is that of the transport, and the buffer has two bytes.
        let read =
            unsafe { Lent::read_into(pointer, buffer.as_mut_ptr().cast(), 2, Transport::read) };
        assert_eq!((read, &buffer), (Ok(2), b"ab"));
        // SAFETY: as above, and the data have one byte.
        let written = unsafe { Lent::write_from(pointer, b"x".as_ptr(), 1, Transport::write) };
        assert_eq!(written, Ok(1));
        assert_eq!(lent.transport_mut().get_ref(), b"abxd");
    }
}
