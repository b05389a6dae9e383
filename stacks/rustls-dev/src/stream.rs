//! A session over a socket, for hyper and tokio, as in tokio-rustls for earlier lines.

use std::{
    io::{self, IoSlice, Write},
    task::{Poll, ready},
};

use netbench_tls::Negotiated;
use netbench_worker::{DrivenSession, Socket, SocketSession, polled};
use rustls::{Connection, SideData, Tcp, VecInput, crypto::cipher::OutboundPlain};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::names;

/// The maximum plaintext of one write: the amount that earlier lines buffer for a socket that does not accept
/// more.
const WRITE_BYTES: usize = 64 * 1024;

/// A session whose records are sent and received by a socket.
pub(crate) struct Session<Side: SideData, S> {
    socket: Socket<S>,
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

impl<Side: SideData, S: AsyncRead + AsyncWrite + Unpin> Session<Side, S> {
    /// Makes a session whose first data to send are `outgoing`.
    pub(crate) fn new(
        socket: Socket<S>,
        connection: Connection<Side, Tcp>,
        outgoing: Vec<u8>,
    ) -> Self {
        Self {
            socket,
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
    fn send(&mut self) -> Poll<io::Result<()>> {
        if self.outgoing.is_empty() {
            return Poll::Ready(Ok(()));
        }
        while let Some(rest @ [_, ..]) = self.outgoing.get(self.sent..) {
            match ready!(polled(self.socket.write(rest)))? {
                0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                count => self.sent += count,
            }
        }
        self.outgoing.clear();
        self.sent = 0;
        polled(self.socket.flush())
    }

    /// Reads from the socket once. Plaintext goes to `buffer` as far as there is room.
    fn receive(&mut self, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if ready!(polled(self.received.read(&mut self.socket)))? == 0 {
            self.end = End::Cut;
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
        let _ = self.send();
        Poll::Ready(Err(io::Error::new(io::ErrorKind::InvalidData, error)))
    }

    /// Encrypts `plaintext` into records, after earlier records are sent, and sends as much as the socket
    /// accepts.
    fn write_records(&mut self, plaintext: OutboundPlain<'_>) -> Poll<io::Result<usize>> {
        ready!(self.send())?;
        let bytes = plaintext.len();
        self.connection
            .write(plaintext, &mut self.outgoing)
            .map_err(io::Error::other)?;
        let _ = self.send()?;
        Poll::Ready(Ok(bytes))
    }
}

impl<Side: SideData, S: AsyncRead + AsyncWrite + Unpin> DrivenSession for Session<Side, S> {
    type Transport = Socket<S>;

    fn transport_mut(&mut self) -> &mut Socket<S> {
        &mut self.socket
    }

    fn handshake(&mut self) -> Poll<io::Result<()>> {
        loop {
            ready!(self.send())?;
            if !self.connection.is_handshaking() {
                return Poll::Ready(Ok(()));
            }
            if self.end != End::NotYet {
                let error = io::Error::new(io::ErrorKind::UnexpectedEof, "tls handshake eof");
                return Poll::Ready(Err(error));
            }
            ready!(self.receive(&mut ReadBuf::new(&mut [])))?;
        }
    }

    fn read(&mut self, plaintext: &mut [u8]) -> Poll<io::Result<usize>> {
        let mut buffer = ReadBuf::new(plaintext);
        ready!(self.read_into(&mut buffer))?;
        Poll::Ready(Ok(buffer.filled().len()))
    }

    fn write(&mut self, plaintext: &[u8]) -> Poll<io::Result<usize>> {
        let plaintext = &plaintext[..plaintext.len().min(WRITE_BYTES)];
        self.write_records(plaintext.into())
    }

    fn has_plaintext(&self) -> bool {
        self.read < self.plaintext.len()
    }

    fn negotiated(&self) -> Negotiated {
        names::negotiated(&self.connection)
    }

    fn resumed(&self) -> bool {
        names::resumed(&self.connection)
    }
}

impl<Side: SideData, S: AsyncRead + AsyncWrite + Unpin> SocketSession for Session<Side, S> {
    const WRITES_VECTORED: bool = true;

    fn alpn(&self) -> Option<Vec<u8>> {
        let alpn = self.connection.alpn_protocol();
        alpn.map(|name| name.as_ref().to_vec())
    }

    fn read_into(&mut self, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        if buffer.remaining() == 0 {
            return Poll::Ready(Ok(()));
        }
        loop {
            let kept = self.plaintext.get(self.read..).unwrap_or_default();
            let count = kept.len().min(buffer.remaining());
            buffer.put_slice(&kept[..count]);
            self.read += count;
            if self.read == self.plaintext.len() {
                self.plaintext.clear();
                self.read = 0;
            }
            if buffer.filled().len() > before {
                return Poll::Ready(Ok(()));
            }
            match self.end {
                End::NotYet => ready!(self.receive(buffer))?,
                End::Closed => return Poll::Ready(Ok(())),
                End::Cut => {
                    let why = "peer closed connection without sending TLS close_notify";
                    let error = io::Error::new(io::ErrorKind::UnexpectedEof, why);
                    return Poll::Ready(Err(error));
                }
            }
            // Answers to handshake messages are pending. If the socket does not accept them now, they are
            // sent with the next data.
            let _ = self.send()?;
        }
    }

    fn write_vectored(&mut self, slices: &[IoSlice<'_>]) -> Poll<io::Result<usize>> {
        let mut room = WRITE_BYTES;
        let parts = slices.iter().map(|slice| {
            let part = &slice[..slice.len().min(room)];
            room -= part.len();
            part
        });
        let parts: Vec<&[u8]> = parts.collect();
        self.write_records(OutboundPlain::new(&parts))
    }

    fn flush(&mut self) -> Poll<io::Result<()>> {
        self.send()
    }

    fn close(&mut self) -> Poll<io::Result<()>> {
        // The library sends it once.
        self.connection
            .send_close_notify(&mut self.outgoing)
            .map_err(io::Error::other)?;
        self.send()
    }
}
