//! A session over a socket, for hyper and tokio, as in tokio-rustls for earlier lines.

use std::{
    io::{self, IoSlice, Read},
    pin::Pin,
    task::{Context, Poll, ready},
};

use hyper_util::{
    client::legacy::connect::{Connected, Connection as HyperConnection},
    rt::TokioIo,
};
use netbench_tls::Negotiated;
use netbench_worker::{HandshakeStream, Wire};
use rustls::{
    Connection, SideData, Tcp, VecInput, crypto::cipher::OutboundPlain, enums::ApplicationProtocol,
};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::names;

/// The maximum plaintext of one write: the amount that earlier lines buffer for a socket that does not accept
/// more.
const WRITE_BYTES: usize = 64 * 1024;

/// A byte stream inside TLS.
pub(crate) struct TlsStream<Side: SideData, S> {
    stream: S,
    connection: Connection<Side, Tcp>,
    received: VecInput,
    end: End,
    /// Data to be sent, and the length of the part that was sent.
    outgoing: Vec<u8>,
    sent: usize,
    /// Received data beyond the room of a reader, and the length of the part that was read since.
    plaintext: Vec<u8>,
    read: usize,
}

/// The state of the peer's data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    NotYet,
    /// The peer has sent close_notify.
    Closed,
    /// The stream ended without close_notify.
    Cut,
}

impl<Side: SideData, S: AsyncRead + AsyncWrite + Unpin> TlsStream<Side, S> {
    /// Makes a session whose first data to send are `outgoing`.
    pub(crate) fn new(stream: S, connection: Connection<Side, Tcp>, outgoing: Vec<u8>) -> Self {
        Self {
            stream,
            connection,
            received: VecInput::default(),
            end: End::NotYet,
            outgoing,
            sent: 0,
            plaintext: Vec::new(),
            read: 0,
        }
    }

    /// Sends all pending data.
    fn poll_send(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.outgoing.is_empty() {
            return Poll::Ready(Ok(()));
        }
        while self.sent < self.outgoing.len() {
            let rest = self.outgoing.get(self.sent..).unwrap_or_default();
            match ready!(Pin::new(&mut self.stream).poll_write(cx, rest))? {
                0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                count => self.sent += count,
            }
        }
        self.outgoing.clear();
        self.sent = 0;
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    /// Reads from the socket once. Plaintext goes to `buffer` as far as there is room.
    fn poll_receive(
        &mut self,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let mut socket = Socket {
            stream: &mut self.stream,
            cx,
        };
        match self.received.read(&mut socket) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Poll::Pending,
            Err(error) => return Poll::Ready(Err(error)),
            Ok(0) => self.end = End::Cut,
            Ok(_) => {}
        }
        let mut messages = self
            .connection
            .read_tls(&mut self.received, &mut self.outgoing);
        let mut failure = None;
        while let Some(payload) = messages.next_payload() {
            match payload {
                Ok(payload) => {
                    let bytes = payload.bytes();
                    let (now, later) = bytes.split_at(bytes.len().min(buffer.remaining()));
                    buffer.put_slice(now);
                    self.plaintext.extend_from_slice(later);
                }
                Err(error) => failure = Some(error),
            }
        }
        if messages.state().peer_has_closed() {
            self.end = End::Closed;
        }
        let Some(error) = failure else {
            return Poll::Ready(Ok(()));
        };
        // The alert is sent, if the socket accepts it at once.
        let _ = self.poll_send(cx);
        Poll::Ready(Err(io::Error::new(io::ErrorKind::InvalidData, error)))
    }

    /// Encrypts `plaintext` into records, after earlier records are sent, and sends as much as the socket
    /// accepts.
    fn poll_records(
        &mut self,
        cx: &mut Context<'_>,
        plaintext: OutboundPlain<'_>,
    ) -> Poll<io::Result<usize>> {
        ready!(self.poll_send(cx))?;
        let bytes = plaintext.len();
        self.connection
            .write(plaintext, &mut self.outgoing)
            .map_err(io::Error::other)?;
        match self.poll_send(cx) {
            Poll::Ready(Err(error)) => Poll::Ready(Err(error)),
            Poll::Ready(Ok(())) | Poll::Pending => Poll::Ready(Ok(bytes)),
        }
    }
}

impl<Side, S> HandshakeStream for TlsStream<Side, S>
where
    Side: SideData + 'static,
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    Connection<Side, Tcp>: Unpin + Send,
{
    fn poll_handshake(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        loop {
            ready!(self.poll_send(cx))?;
            if !self.connection.is_handshaking() {
                return Poll::Ready(Ok(()));
            }
            if self.end != End::NotYet {
                let error = io::Error::new(io::ErrorKind::UnexpectedEof, "tls handshake eof");
                return Poll::Ready(Err(error));
            }
            ready!(self.poll_receive(cx, &mut ReadBuf::new(&mut [])))?;
        }
    }

    fn negotiated(&self) -> Negotiated {
        names::negotiated(&self.connection)
    }
}

/// The underlying stream, read without waiting.
struct Socket<'a, 'b, S> {
    stream: &'a mut S,
    cx: &'a mut Context<'b>,
}

impl<S: AsyncRead + Unpin> Read for Socket<'_, '_, S> {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let mut buffer = ReadBuf::new(room);
        match Pin::new(&mut *self.stream).poll_read(self.cx, &mut buffer) {
            Poll::Ready(Ok(())) => Ok(buffer.filled().len()),
            Poll::Ready(Err(error)) => Err(error),
            Poll::Pending => Err(io::ErrorKind::WouldBlock.into()),
        }
    }
}

impl<Side: SideData, S: AsyncRead + AsyncWrite + Unpin> AsyncRead for TlsStream<Side, S>
where
    Connection<Side, Tcp>: Unpin,
{
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        let before = buffer.filled().len();
        if buffer.remaining() == 0 {
            return Poll::Ready(Ok(()));
        }
        loop {
            let kept = this.plaintext.get(this.read..).unwrap_or_default();
            let count = kept.len().min(buffer.remaining());
            buffer.put_slice(&kept[..count]);
            this.read += count;
            if this.read == this.plaintext.len() {
                this.plaintext.clear();
                this.read = 0;
            }
            if buffer.filled().len() > before {
                return Poll::Ready(Ok(()));
            }
            match this.end {
                End::NotYet => ready!(this.poll_receive(cx, buffer))?,
                End::Closed => return Poll::Ready(Ok(())),
                End::Cut => {
                    let why = "peer closed connection without sending TLS close_notify";
                    let error = io::Error::new(io::ErrorKind::UnexpectedEof, why);
                    return Poll::Ready(Err(error));
                }
            }
            // Answers to handshake messages are pending. If the socket does not accept them now, they are
            // sent with the next data.
            if let Poll::Ready(Err(error)) = this.poll_send(cx) {
                return Poll::Ready(Err(error));
            }
        }
    }
}

impl<Side: SideData, S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for TlsStream<Side, S>
where
    Connection<Side, Tcp>: Unpin,
{
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let bytes = &bytes[..bytes.len().min(WRITE_BYTES)];
        self.poll_records(cx, bytes.into())
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let mut room = WRITE_BYTES;
        let parts = slices.iter().map(|slice| {
            let part = &slice[..slice.len().min(room)];
            room -= part.len();
            part
        });
        let parts: Vec<&[u8]> = parts.collect();
        self.poll_records(cx, OutboundPlain::new(&parts))
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_send(cx))?;
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = &mut *self;
        // The session sends it once.
        this.connection
            .send_close_notify(&mut this.outgoing)
            .map_err(io::Error::other)?;
        ready!(this.poll_send(cx))?;
        Pin::new(&mut this.stream).poll_shutdown(cx)
    }
}

impl<Side: SideData> HyperConnection for TlsStream<Side, TokioIo<Wire>> {
    fn connected(&self) -> Connected {
        let connected = self.stream.inner().connected();
        if self.connection.alpn_protocol() == Some(&ApplicationProtocol::Http2) {
            connected.negotiated_h2()
        } else {
            connected
        }
    }
}
