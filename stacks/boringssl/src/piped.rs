//! A session over plain buffers.

use std::{io, ptr, task::Poll};

use boring::{
    error::ErrorStack,
    ssl::{Error, ErrorCode, ShutdownState, Ssl, SslStream},
};
use foreign_types_shared::ForeignTypeRef;
use netbench_tls::Negotiated;
use netbench_worker::{DrivenSession, EndpointSide, Pipe, Piped, Session, SessionError};

use crate::negotiated::negotiated;

/// Creates the session of a connection.
pub(crate) fn session(
    ssl: Result<Ssl, ErrorStack>,
    side: EndpointSide,
) -> Result<Box<dyn Session>, SessionError> {
    let stream = ssl.and_then(|ssl| {
        // SAFETY: the connection is live, and unused so far.
        unsafe {
            match side {
                EndpointSide::Client => boring_sys::SSL_set_connect_state(ssl.as_ptr()),
                EndpointSide::Server => boring_sys::SSL_set_accept_state(ssl.as_ptr()),
            }
        }
        SslStream::new(ssl, Pipe::default())
    });
    Piped::session(stream.map(|stream| Connection { stream, side }))
}

struct Connection {
    stream: SslStream<Pipe>,
    side: EndpointSide,
}

impl Drop for Connection {
    /// Marks the connection as shut down by both sides: otherwise, the library forgets the session of a connection
    /// that is freed.
    fn drop(&mut self) {
        self.stream
            .set_shutdown(ShutdownState::SENT | ShutdownState::RECEIVED);
    }
}

impl Connection {
    /// Sends the tickets: BoringSSL keeps those of TLS 1.3 until the server writes, and lets servers without data
    /// make an empty write.
    fn send_tickets(&self) -> Result<(), ErrorStack> {
        // SAFETY: the connection is live, and no bytes are read.
        match unsafe { boring_sys::SSL_write(self.stream.ssl().as_ptr(), ptr::null(), 0) } {
            result if result < 0 => Err(ErrorStack::get()),
            _ => Ok(()),
        }
    }
}

impl DrivenSession for Connection {
    type Transport = Pipe;

    fn transport_mut(&mut self) -> &mut Pipe {
        self.stream.get_mut()
    }

    fn handshake(&mut self) -> Poll<io::Result<()>> {
        let done = poll(self.stream.do_handshake())?;
        if done.is_ready() && self.side == EndpointSide::Server {
            self.send_tickets().map_err(io::Error::other)?;
        }
        done.map(Ok)
    }

    fn read(&mut self, plaintext: &mut [u8]) -> Poll<io::Result<usize>> {
        poll(self.stream.ssl_read(plaintext))
    }

    fn write(&mut self, plaintext: &[u8]) -> Poll<io::Result<usize>> {
        poll(self.stream.ssl_write(plaintext))
    }

    fn has_plaintext(&self) -> bool {
        self.stream.ssl().pending() > 0
    }

    fn negotiated(&self) -> Negotiated {
        negotiated(self.stream.ssl(), self.side)
    }

    fn resumed(&self) -> bool {
        self.stream.ssl().session_reused()
    }
}

fn poll<T>(result: Result<T, Error>) -> Poll<io::Result<T>> {
    match result {
        Err(error) if error.code() == ErrorCode::WANT_READ => Poll::Pending,
        result => Poll::Ready(result.map_err(io::Error::other)),
    }
}
