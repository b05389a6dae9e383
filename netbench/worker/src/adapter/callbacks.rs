use std::io::{self, IoSlice, Read, Write};

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
    pub fn transport(&self) -> &T {
        &self.transport
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
