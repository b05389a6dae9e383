//! A session over a socket, for hyper and tokio.

use std::{
    ffi::CString,
    io,
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
    ffi::{self, FileDesc},
    io_layer::Transport,
    library::Error,
    negotiated::alpn,
    session::{Session, User},
};

/// A byte stream inside TLS.
pub(crate) struct TlsStream<S: AsyncRead + AsyncWrite + Unpin> {
    session: Session<Socket<S>>,
    goodbye: Goodbye,
}

/// Whether the end of the data was announced to the peer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Goodbye {
    NotYet,
    Said,
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

    fn push(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.poll(|stream, cx| stream.poll_write(cx, bytes))
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
            goodbye: Goodbye::NotYet,
        })
    }

    pub(crate) fn fd(&self) -> FileDesc {
        self.session.fd()
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
        let (start, bytes) = (room.as_mut_ptr(), length(room.len()));
        // SAFETY: the session is alive, and the buffer has as many bytes.
        let read = |fd| unsafe { ffi::PR_Read(fd, start.cast(), bytes) };
        let count = ready!(self.with_context(cx, |session| session.call(read)))?;
        buffer.advance(count);
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for TlsStream<S> {
    /// Writes data. The library keeps the data that the underlying stream does not accept, except for the
    /// last byte, which must be passed again.
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let count = length(bytes.len());
        // SAFETY: the session is alive, and the buffer has as many bytes.
        let write = |fd| unsafe { ffi::PR_Write(fd, bytes.as_ptr().cast(), count) };
        self.with_context(cx, |session| session.call(write))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.goodbye == Goodbye::NotYet {
            // SAFETY: the session is alive; without data, the library sends its buffer.
            let rest = |fd| unsafe { ffi::PR_Write(fd, ptr::null(), 0) };
            ready!(self.with_context(cx, |session| session.call(rest)))?;
        }
        Pin::new(&mut self.session.transport_mut().stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.as_mut().poll_flush(cx))?;
        if self.goodbye == Goodbye::NotYet {
            self.goodbye = Goodbye::Said;
            // SAFETY: the session is alive.
            let bye = |fd| unsafe { ffi::PR_Shutdown(fd, ffi::PR_SHUTDOWN_SEND) };
            ready!(self.with_context(cx, |session| session.call(bye)))?;
        }
        Pin::new(&mut self.session.transport_mut().stream).poll_shutdown(cx)
    }
}

impl Connection for TlsStream<TokioIo<Wire>> {
    fn connected(&self) -> Connected {
        let connected = self.session.transport().stream.inner().connected();
        if alpn(self.fd()).as_deref() == Some(b"h2") {
            connected.negotiated_h2()
        } else {
            connected
        }
    }
}

/// Returns the maximum number of bytes that the library accepts at a time.
fn length(bytes: usize) -> i32 {
    i32::try_from(bytes).unwrap_or(i32::MAX)
}

/// Returns a name in the library's format.
pub(crate) fn host_name(host: &str) -> io::Result<CString> {
    let name = host.trim_matches(['[', ']']);
    CString::new(name).map_err(|e| io::Error::new(io::ErrorKind::InvalidInput, e))
}
