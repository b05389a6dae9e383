use std::{
    io::{self, IoSlice, Read, Write},
    pin::Pin,
    ptr,
    task::{Context, Poll, ready},
};

use hyper_util::client::legacy::connect::{Connected, Connection};
use netbench_tls::Negotiated;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::SocketSession;

/// An asynchronous stream as the transport of a library that knows no contexts of polls.
#[derive(Debug)]
pub struct Socket<W> {
    stream: W,
    /// The context of the current poll, or null outside of one.
    context: *mut Context<'static>,
}

// SAFETY: the context is set only during a poll, which borrows the socket mutably.
unsafe impl<W: Send> Send for Socket<W> {}

impl<W: Unpin> Socket<W> {
    /// Wraps a stream.
    pub fn new(stream: W) -> Self {
        Self {
            stream,
            context: ptr::null_mut(),
        }
    }

    fn poll<T>(
        &mut self,
        poll: impl FnOnce(Pin<&mut W>, &mut Context<'_>) -> Poll<io::Result<T>>,
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

impl<W: AsyncRead + Unpin> Read for Socket<W> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut buffer = ReadBuf::new(buffer);
        self.poll(|stream, cx| stream.poll_read(cx, &mut buffer))?;
        Ok(buffer.filled().len())
    }
}

impl<W: AsyncWrite + Unpin> Write for Socket<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.poll(|stream, cx| stream.poll_write(cx, bytes))
    }

    fn write_vectored(&mut self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        self.poll(|stream, cx| stream.poll_write_vectored(cx, slices))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.poll(|stream, cx| stream.poll_flush(cx))
    }
}

/// A byte stream inside TLS, for hyper and tokio.
#[derive(Debug)]
pub(super) struct TlsStream<S>(S);

impl<S, W> TlsStream<S>
where
    S: SocketSession<Transport = Socket<W>>,
{
    /// Wraps a session that has not begun.
    pub(super) fn new(session: S) -> Self {
        Self(session)
    }

    /// Continues the handshake.
    pub(super) fn poll_handshake(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.with_context(cx, S::handshake)
    }

    /// Returns the negotiated parameters, once the handshake is done.
    pub(super) fn negotiated(&self) -> Negotiated {
        self.0.negotiated()
    }

    /// Lets the transport poll the underlying stream in `work`.
    fn with_context<T>(&mut self, cx: &mut Context<'_>, work: impl FnOnce(&mut S) -> T) -> T {
        self.0.transport_mut().context = ptr::from_mut(cx).cast();
        let result = work(&mut self.0);
        self.0.transport_mut().context = ptr::null_mut();
        result
    }
}

impl<S, W> AsyncRead for TlsStream<S>
where
    S: SocketSession<Transport = Socket<W>> + Unpin,
{
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.with_context(cx, |session| session.read_into(buffer))
    }
}

impl<S, W> AsyncWrite for TlsStream<S>
where
    S: SocketSession<Transport = Socket<W>> + Unpin,
    W: AsyncWrite + Unpin,
{
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.with_context(cx, |session| session.write(bytes))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.with_context(cx, |session| session.write_vectored(slices))
    }

    fn is_write_vectored(&self) -> bool {
        S::WRITES_VECTORED
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.with_context(cx, S::flush))?;
        Pin::new(&mut self.0.transport_mut().stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.as_mut().poll_flush(cx))?;
        ready!(self.with_context(cx, S::close))?;
        Pin::new(&mut self.0.transport_mut().stream).poll_shutdown(cx)
    }
}

impl<S: SocketSession> Connection for TlsStream<S> {
    fn connected(&self) -> Connected {
        if self.0.alpn().as_deref() == Some(b"h2") {
            Connected::new().negotiated_h2()
        } else {
            Connected::new()
        }
    }
}
