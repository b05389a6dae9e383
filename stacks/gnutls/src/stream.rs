//! A session over a socket, for hyper and tokio.

use std::{
    ffi::CString,
    io::{self, IoSlice},
    pin::Pin,
    ptr,
    sync::Arc,
    task::{Context, Poll, ready},
};

use hyper_util::{
    client::legacy::connect::{Connected, Connection},
    rt::TokioIo,
};
use netbench_worker::Wire;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::{
    config::Config,
    ffi,
    negotiated::alpn,
    session::{Error, Session, Transport, User},
};

/// A byte stream inside TLS.
pub(crate) struct TlsStream<S: AsyncRead + AsyncWrite + Unpin> {
    session: Session<Socket<S>>,
    /// Whether the library still has data to send.
    sending: Sending,
    renegotiation: Renegotiation,
}

/// Whether a server of TLS 1.2 has requested another handshake, which the library leaves to its users.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Renegotiation {
    None,
    Begun,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sending {
    Nothing,
    Begun,
}

/// The underlying stream, with the context of the current poll.
struct Socket<S> {
    stream: S,
    context: *mut Context<'static>,
}

// SAFETY: the context is set only during a poll, which borrows the socket mutably.
unsafe impl<S: Send> Send for Socket<S> {}

impl<S: Unpin> Socket<S> {
    fn poll<T>(
        &mut self,
        poll: impl FnOnce(Pin<&mut S>, &mut Context<'_>) -> Poll<io::Result<T>>,
    ) -> io::Result<T> {
        if self.context.is_null() {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        // SAFETY: the context is that of the current poll.
        let context = unsafe { &mut *self.context };
        match poll(Pin::new(&mut self.stream), context) {
            Poll::Ready(result) => result,
            Poll::Pending => Err(io::ErrorKind::WouldBlock.into()),
        }
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> Transport for Socket<S> {
    fn pull(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut buffer = ReadBuf::new(buffer);
        self.poll(|stream, cx| stream.poll_read(cx, &mut buffer))?;
        Ok(buffer.filled().len())
    }

    fn push(&mut self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        self.poll(|stream, cx| stream.poll_write_vectored(cx, slices))
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> TlsStream<S> {
    /// Makes a session that has not begun.
    pub(crate) fn new(config: &Arc<Config>, stream: S, user: User) -> Result<Self, Error> {
        let socket = Socket {
            stream,
            context: ptr::null_mut(),
        };
        Ok(Self {
            session: Session::new(config, socket, user)?,
            sending: Sending::Nothing,
            renegotiation: Renegotiation::None,
        })
    }

    pub(crate) fn raw(&self) -> ffi::Session {
        self.session.raw()
    }

    pub(crate) fn poll_handshake(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.with_context(cx, Session::handshake)
    }

    /// Lets the transport poll the underlying stream in `work`.
    fn with_context<T>(
        &mut self,
        cx: &mut Context<'_>,
        work: impl FnOnce(&mut Session<Socket<S>>) -> T,
    ) -> T {
        self.session.transport_mut().context = ptr::from_mut(cx).cast();
        let result = work(&mut self.session);
        self.session.transport_mut().context = ptr::null_mut();
        result
    }

    /// Sends the rest of the last write, and returns its length.
    fn poll_rest(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        // SAFETY: the session is alive; without data, the library continues with its buffer.
        let send = |raw| unsafe { ffi::gnutls_record_send(raw, ptr::null(), 0) };
        let sent = ready!(self.with_context(cx, |session| session.call(send)))?;
        self.sending = Sending::Nothing;
        Poll::Ready(Ok(sent))
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for TlsStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let room = buffer.initialize_unfilled();
        if room.is_empty() {
            return Poll::Ready(Ok(()));
        }
        let (start, bytes) = (room.as_mut_ptr(), room.len());
        let mut renegotiation = self.renegotiation;
        let read = |raw| {
            if renegotiation == Renegotiation::Begun {
                // SAFETY: the session is alive.
                let done = unsafe { ffi::gnutls_handshake(raw) };
                if done < 0 {
                    return done as isize;
                }
                renegotiation = Renegotiation::None;
            }
            // SAFETY: the session is alive, and the buffer has as many bytes.
            let read = unsafe { ffi::gnutls_record_recv(raw, start.cast(), bytes) };
            if read == ffi::E_REHANDSHAKE as isize {
                renegotiation = Renegotiation::Begun;
            }
            read
        };
        let read = self.with_context(cx, |session| session.call(read));
        self.renegotiation = renegotiation;
        let count = ready!(read)?;
        buffer.advance(count);
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for TlsStream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        if self.sending == Sending::Begun {
            return self.poll_rest(cx);
        }
        if bytes.is_empty() {
            return Poll::Ready(Ok(0));
        }
        // SAFETY: the session is alive, and the library copies the data into records before it returns.
        let write =
            |raw| unsafe { ffi::gnutls_record_send(raw, bytes.as_ptr().cast(), bytes.len()) };
        let mut first = Some(write);
        // SAFETY: as in `poll_rest`.
        let rest = |raw| unsafe { ffi::gnutls_record_send(raw, ptr::null(), 0) };
        let sent = self.with_context(cx, |session| {
            session.call(|raw| first.take().map_or_else(|| rest(raw), |write| write(raw)))
        });
        if sent.is_pending() {
            self.sending = Sending::Begun;
        }
        sent
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        // An unfinished write belongs to its caller, who repeats it.
        Pin::new(&mut self.session.transport_mut().stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        // SAFETY: the session is alive.
        let bye = |raw| unsafe { ffi::gnutls_bye(raw, ffi::SHUT_WR) as isize };
        ready!(self.with_context(cx, |session| session.call(bye)))?;
        Pin::new(&mut self.session.transport_mut().stream).poll_shutdown(cx)
    }
}

impl Connection for TlsStream<TokioIo<Wire>> {
    fn connected(&self) -> Connected {
        let connected = self.session.transport().stream.inner().connected();
        if alpn(self.raw()).as_deref() == Some(b"h2") {
            connected.negotiated_h2()
        } else {
            connected
        }
    }
}

/// Returns a name in the library's format.
pub(crate) fn host_name(host: &str) -> io::Result<CString> {
    let name = host.trim_matches(['[', ']']);
    CString::new(name).map_err(|e| io::Error::new(io::ErrorKind::InvalidInput, e))
}
