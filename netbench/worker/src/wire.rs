use std::{
    io,
    os::fd::AsRawFd,
    pin::Pin,
    task::{Context, Poll, ready},
};

use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::client::legacy::connect::{Connected, Connection};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpStream,
};

use crate::{Observed, Probe};

/// A TCP connection that counts the bytes in both directions, below TLS.
#[derive(Debug)]
pub struct Wire {
    stream: TcpStream,
    probe: Probe,
    observed: Option<Observed>,
}

impl Wire {
    pub(crate) fn new(stream: TcpStream, probe: Probe, observed: Option<Observed>) -> Self {
        probe.connected(stream.as_raw_fd());
        Self {
            stream,
            probe,
            observed,
        }
    }

    /// Returns the server's plaintext, if [`TimedTcp::observed`](crate::TimedTcp::observed) enabled its recording.
    pub fn observed(&self) -> Option<&Observed> {
        self.observed.as_ref()
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        self.probe.closes();
    }
}

impl Read for Wire {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        mut cursor: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        // SAFETY: tokio's ReadBuf never makes initialised bytes uninitialised.
        let mut buffer = ReadBuf::uninit(unsafe { cursor.as_mut() });
        ready!(Pin::new(&mut self.stream).poll_read(cx, &mut buffer))?;
        let count = buffer.filled().len();
        if let Some(observed) = &mut self.observed {
            observed.received(buffer.filled());
        }
        if count > 0 {
            self.probe.received(buffer.filled());
        }
        // SAFETY: the stream has just filled `count` bytes of the cursor's memory.
        unsafe { cursor.advance(count) };
        Poll::Ready(Ok(()))
    }
}

impl Write for Wire {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.probe.writes();
        let count = ready!(Pin::new(&mut self.stream).poll_write(cx, bytes))?;
        self.probe.sent(&[io::IoSlice::new(bytes)], count);
        Poll::Ready(Ok(count))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.probe.writes();
        let count = ready!(Pin::new(&mut self.stream).poll_write_vectored(cx, slices))?;
        self.probe.sent(slices, count);
        Poll::Ready(Ok(count))
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

impl Connection for Wire {
    fn connected(&self) -> Connected {
        Connected::new()
    }
}
