use std::{
    io::{self, IoSlice},
    pin::Pin,
    task::{Context, Poll},
};

use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::client::legacy::connect::{Connected, Connection};

/// A stream inside TLS that tells hyper its application protocol, which the stream's own type does not.
#[derive(Debug)]
pub struct ToldStream<S> {
    stream: S,
    is_h2: bool,
}

impl<S> ToldStream<S> {
    /// Wraps a stream, whose application protocol `alpn` returns.
    pub fn new(stream: S, alpn: impl FnOnce(&S) -> Option<&[u8]>) -> Self {
        Self {
            is_h2: alpn(&stream) == Some(b"h2"),
            stream,
        }
    }

    /// Returns the stream.
    pub fn stream(&self) -> &S {
        &self.stream
    }
}

impl<S> Connection for ToldStream<S> {
    fn connected(&self) -> Connected {
        if self.is_h2 {
            Connected::new().negotiated_h2()
        } else {
            Connected::new()
        }
    }
}

impl<S: Read + Unpin> Read for ToldStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl<S: Write + Unpin> Write for ToldStream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
