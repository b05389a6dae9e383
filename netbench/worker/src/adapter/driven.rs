use std::{
    io::{self, IoSlice},
    task::{Poll, ready},
};

use netbench_tls::Negotiated;
use tokio::io::ReadBuf;

/// A session of a library that reads and writes its transport by itself.
///
/// The functions return [`Poll::Pending`] if the transport has neither data nor room, and are then called again.
///
/// # Errors
/// Its functions return errors of the library or of the transport.
pub trait DrivenSession {
    /// The transport.
    type Transport;

    /// Returns the transport.
    fn transport_mut(&mut self) -> &mut Self::Transport;

    /// Continues the handshake.
    fn handshake(&mut self) -> Poll<io::Result<()>>;

    /// Reads plaintext, and returns its length: 0 at the end of the data.
    fn read(&mut self, plaintext: &mut [u8]) -> Poll<io::Result<usize>>;

    /// Writes plaintext, and returns the length of the accepted part.
    fn write(&mut self, plaintext: &[u8]) -> Poll<io::Result<usize>>;

    /// Returns whether the library has received plaintext that was not read.
    fn has_plaintext(&self) -> bool;

    /// Releases the buffers of an idle session, as [`crate::Session::release_buffers`] does.
    fn release_buffers(&mut self) -> io::Result<Option<&'static str>> {
        Ok(None)
    }

    /// Returns the negotiated parameters.
    fn negotiated(&self) -> Negotiated;

    /// Returns whether an earlier session was resumed.
    fn resumed(&self) -> bool;
}

/// Converts the result of an operation of a transport, which is pending if the operation would block.
///
/// # Errors
/// Any other error of the transport.
pub fn polled<T>(result: io::Result<T>) -> Poll<io::Result<T>> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Poll::Pending,
        result => Poll::Ready(result),
    }
}

/// A session over a socket.
///
/// # Errors
/// Its functions return errors of the library or of the transport.
pub trait SocketSession: DrivenSession {
    /// Whether [`Self::write_vectored`] writes more than one slice.
    const WRITES_VECTORED: bool = false;

    /// Returns the negotiated application protocol.
    fn alpn(&self) -> Option<Vec<u8>>;

    /// Reads plaintext into `buffer`, and none at the end of the data.
    fn read_into(&mut self, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let room = buffer.initialize_unfilled();
        if room.is_empty() {
            return Poll::Ready(Ok(()));
        }
        let count = ready!(self.read(room))?;
        buffer.advance(count);
        Poll::Ready(Ok(()))
    }

    /// Writes plaintext, and returns the length of the accepted part.
    fn write_vectored(&mut self, slices: &[IoSlice<'_>]) -> Poll<io::Result<usize>> {
        let first = slices.iter().find(|slice| !slice.is_empty());
        self.write(first.map_or(&[], |slice| slice))
    }

    /// Sends data that the library has buffered.
    fn flush(&mut self) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    /// Sends the alert `close_notify`.
    fn close(&mut self) -> Poll<io::Result<()>>;
}
