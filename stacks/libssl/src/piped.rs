//! A session over plain buffers.

use std::{io, marker::PhantomData, task::Poll};

use netbench_tls::Negotiated;
use netbench_worker::{DrivenSession, Pipe, Piped, Session, SessionError};
use openssl::{
    error::ErrorStack,
    ssl::{Error, ErrorCode, ShutdownState, Ssl, SslStream},
};

use crate::{Libssl, Side};

/// Creates the session of a connection.
pub(crate) fn session<L: Libssl>(
    ssl: Result<Ssl, ErrorStack>,
    side: Side,
) -> Result<Box<dyn Session>, SessionError> {
    let stream = ssl.and_then(|ssl| SslStream::new(ssl, Pipe::default()));
    Piped::session(stream.map(|stream| Connection {
        stream,
        side,
        library: PhantomData::<fn() -> L>,
    }))
}

struct Connection<L> {
    stream: SslStream<Pipe>,
    side: Side,
    library: PhantomData<fn() -> L>,
}

impl<L> Drop for Connection<L> {
    /// Marks the connection as shut down by both sides: OpenSSL forgets the session of a connection that is
    /// freed otherwise (RFC 2246 section 7.2.1 required that), including the newest ticket of TLS 1.3.
    fn drop(&mut self) {
        self.stream
            .set_shutdown(ShutdownState::SENT | ShutdownState::RECEIVED);
    }
}

impl<L: Libssl> DrivenSession for Connection<L> {
    type Transport = Pipe;

    fn transport_mut(&mut self) -> &mut Pipe {
        self.stream.get_mut()
    }

    fn handshake(&mut self) -> Poll<io::Result<()>> {
        let done = poll(self.stream.do_handshake())?;
        if done.is_ready() && self.side == Side::Server {
            L::send_tickets(self.stream.ssl()).map_err(io::Error::other)?;
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

    fn release_buffers(&mut self) -> io::Result<Option<&'static str>> {
        L::release_buffers(self.stream.ssl()).map_err(io::Error::other)
    }

    fn negotiated(&self) -> Negotiated {
        L::negotiated(self.stream.ssl(), self.side)
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
