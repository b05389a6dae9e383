//! A server that takes early data (RFC 8446 section 4.2.10). tokio-rustls' acceptor returns after the client's Finished, a
//! round trip after a request in early data.

use std::{
    io::{self, Read, Write},
    sync::Arc,
    task::Poll,
};

use netbench_tls::{EarlyDataPolicy, EarlyDataStatus, Negotiated, wire::content::APPLICATION_DATA};
use netbench_worker::{
    Accept, AcceptError, Accepted, BoxFuture, DrivenSession, EarlyReceipt, Socket, SocketSession,
    accepted, first_record, polled,
};
use rustls::{
    HandshakeKind, NamedGroup, ServerConfig, ServerConnection, server::StoresServerSessions,
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpStream,
};

use crate::{hello::Hello, names};

/// The early data that a ticket allows, in bytes.
const LIMIT_BYTES: u32 = 16 * 1024;

/// An acceptor of connections with early data.
#[derive(Clone)]
pub(crate) struct EarlyAcceptor {
    config: Arc<ServerConfig>,
    policy: EarlyDataPolicy,
    /// A configuration for each group alone, with [`EarlyDataPolicy::Retry`].
    retries: Arc<[OfGroup]>,
}

/// A group, and a configuration with it alone.
type OfGroup = (NamedGroup, Arc<ServerConfig>);

impl EarlyAcceptor {
    /// Makes the tickets of `config` allow early data. The configuration must have no ticketer: rustls accepts early data
    /// only with a session that it keeps. It uses each session once, and so rejects the early data of a repeated ClientHello.
    pub(crate) fn new(mut config: ServerConfig, policy: EarlyDataPolicy) -> Self {
        config.max_early_data_size = LIMIT_BYTES;
        config.send_half_rtt_data = matches!(
            policy,
            EarlyDataPolicy::Accept | EarlyDataPolicy::AcceptAgain
        );
        if policy == EarlyDataPolicy::AcceptAgain {
            config.session_storage = Arc::new(Lasting(config.session_storage));
        }
        Self {
            config: Arc::new(config),
            policy,
            retries: Arc::default(),
        }
    }

    /// Returns an acceptor that answers early data with a HelloRetryRequest. `of_groups` are configurations like its own, in
    /// the order of preference, each with one group alone.
    pub(crate) fn retrying(self, of_groups: Vec<(NamedGroup, ServerConfig)>) -> Self {
        let retries = of_groups.into_iter().map(|(group, mut config)| {
            config.max_early_data_size = LIMIT_BYTES;
            config.session_storage = Arc::clone(&self.config.session_storage);
            (group, Arc::new(config))
        });
        Self {
            retries: retries.collect(),
            ..self
        }
    }

    /// Performs the handshake on a connection, or the part of it before accepted early data.
    async fn take<W>(self, stream: W) -> Result<Accepted, AcceptError>
    where
        W: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let session = EarlySession::new(&self, stream)?;
        let receipt = session.receipt.clone();
        let accepted = accepted(session).await?;
        let is_early = accepted.negotiated.early_data == Some(EarlyDataStatus::Accepted);
        Ok(Accepted {
            early: is_early.then_some(receipt),
            ..accepted
        })
    }
}

impl Accept for EarlyAcceptor {
    fn accept(&self, stream: TcpStream) -> BoxFuture<'static, Result<Accepted, AcceptError>> {
        Box::pin(self.clone().take(stream))
    }
}

/// A session whose handshake counts as done once early data have come: reading continues it, and writing does not wait for
/// its end.
struct EarlySession<W> {
    connection: ServerConnection,
    socket: Socket<W>,
    /// Received bytes that are not processed yet.
    received: Vec<u8>,
    /// Early data that were not read yet.
    plaintext: Vec<u8>,
    has_early_data: bool,
    /// Number of encrypted records before the end of the handshake. The client's Finished is one; rejected early data are
    /// the others, which rustls does not report.
    encrypted_records: u32,
    /// The acceptor's configurations with one group, until the first record has come.
    retries: Option<Arc<[OfGroup]>>,
    /// Whether the server sent a HelloRetryRequest.
    is_retried: bool,
    receipt: EarlyReceipt,
}

impl<W: AsyncRead + AsyncWrite + Unpin> EarlySession<W> {
    fn new(acceptor: &EarlyAcceptor, stream: W) -> Result<Self, rustls::Error> {
        let mut connection = ServerConnection::new(Arc::clone(&acceptor.config))?;
        if acceptor.policy == EarlyDataPolicy::Reject {
            connection.reject_early_data();
        }
        Ok(Self {
            connection,
            socket: Socket::new(stream),
            received: Vec::new(),
            plaintext: Vec::new(),
            has_early_data: false,
            encrypted_records: 0,
            retries: Some(Arc::clone(&acceptor.retries)),
            is_retried: false,
            receipt: EarlyReceipt::default(),
        })
    }

    /// Sends the records that the library has made.
    fn send(&mut self) -> io::Result<()> {
        while self.connection.wants_write() {
            if self.connection.write_tls(&mut self.socket)? == 0 {
                return Err(io::ErrorKind::WriteZero.into());
            }
        }
        Ok(())
    }

    /// Sends as much as the socket takes now.
    fn send_some(&mut self) -> io::Result<()> {
        match self.send() {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(()),
            sent => sent,
        }
    }

    /// Receives and processes one record, or the end of the stream.
    ///
    /// # Errors
    /// An end of the stream within the handshake is an error, because nothing can follow.
    fn receive(&mut self) -> io::Result<()> {
        loop {
            if let Some((record, _)) = first_record(&self.received) {
                return self.process(record.len());
            }
            let mut buffer = [0; 16 * 1024];
            let count = self.socket.read(&mut buffer)?;
            if count == 0 {
                self.connection.read_tls(&mut io::empty())?;
                return match self.connection.is_handshaking() {
                    true => Err(io::ErrorKind::UnexpectedEof.into()),
                    false => Ok(()),
                };
            }
            self.received.extend_from_slice(&buffer[..count]);
        }
    }

    /// Processes the first `length` received bytes, which are a record, and takes the early data out of it.
    fn process(&mut self, length: usize) -> io::Result<()> {
        if let Some(retries) = self.retries.take()
            && let Some(hello) = Hello::of_record(&self.received[..length])
        {
            let mut retries = retries.iter();
            if let Some((_, config)) = retries.find(|(group, _)| hello.can_be_retried_for(*group)) {
                self.connection =
                    ServerConnection::new(Arc::clone(config)).map_err(io::Error::other)?;
            }
        }
        let is_encrypted = self.received.first() == Some(&APPLICATION_DATA);
        self.encrypted_records += u32::from(is_encrypted && self.connection.is_handshaking());
        let mut record = &self.received[..length];
        while !record.is_empty() && self.connection.read_tls(&mut record)? > 0 {}
        self.received.drain(..length);
        self.connection
            .process_new_packets()
            .map_err(io::Error::other)?;
        // A resumed handshake is of another kind at its end.
        self.is_retried |=
            self.connection.handshake_kind() == Some(HandshakeKind::FullWithHelloRetryRequest);
        if let Some(mut early) = self.connection.early_data() {
            early.read_to_end(&mut self.plaintext)?;
            self.has_early_data |= !self.plaintext.is_empty();
        }
        Ok(())
    }

    /// Processes the next record, and sends the answer of the library: tickets, or the alert about an error.
    fn advance(&mut self) -> io::Result<()> {
        let received = self.receive();
        self.send_some()?;
        received
    }

    fn try_handshake(&mut self) -> io::Result<()> {
        while self.connection.is_handshaking() && !self.has_early_data {
            self.advance()?;
        }
        self.send()
    }

    fn try_read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        loop {
            if !self.plaintext.is_empty() {
                let count = self.plaintext.as_slice().read(room)?;
                self.plaintext.drain(..count);
                return Ok(count);
            }
            if !self.connection.is_handshaking() {
                match self.connection.reader().read(room) {
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                    Ok(count) if count > 0 => {
                        self.receipt.ends();
                        return Ok(count);
                    }
                    end => return end,
                }
            }
            self.advance()?;
        }
    }

    fn try_write(&mut self, plaintext: &[u8]) -> io::Result<usize> {
        self.send()?;
        let count = self.connection.writer().write(plaintext)?;
        self.send_some()?;
        Ok(count)
    }
}

impl<W: AsyncRead + AsyncWrite + Unpin> DrivenSession for EarlySession<W> {
    type Transport = Socket<W>;

    fn transport_mut(&mut self) -> &mut Self::Transport {
        &mut self.socket
    }

    fn handshake(&mut self) -> Poll<io::Result<()>> {
        polled(self.try_handshake())
    }

    fn read(&mut self, plaintext: &mut [u8]) -> Poll<io::Result<usize>> {
        polled(self.try_read(plaintext))
    }

    fn write(&mut self, plaintext: &[u8]) -> Poll<io::Result<usize>> {
        polled(self.try_write(plaintext))
    }

    fn has_plaintext(&self) -> bool {
        !self.plaintext.is_empty()
    }

    fn negotiated(&self) -> Negotiated {
        let early_data = match (self.has_early_data, self.encrypted_records) {
            (true, _) => Some(EarlyDataStatus::Accepted),
            (false, 0 | 1) => None,
            (false, _) if self.is_retried => Some(EarlyDataStatus::Retried),
            (false, _) => Some(EarlyDataStatus::Rejected),
        };
        Negotiated {
            early_data,
            ..names::negotiated(&self.connection)
        }
    }

    fn resumed(&self) -> bool {
        self.connection.handshake_kind() == Some(HandshakeKind::Resumed)
    }
}

impl<W: AsyncRead + AsyncWrite + Unpin> SocketSession for EarlySession<W> {
    fn alpn(&self) -> Option<Vec<u8>> {
        self.connection.alpn_protocol().map(<[u8]>::to_vec)
    }

    fn flush(&mut self) -> Poll<io::Result<()>> {
        polled(self.send())
    }

    fn close(&mut self) -> Poll<io::Result<()>> {
        self.connection.send_close_notify();
        polled(self.send())
    }
}

/// Sessions that can be used again.
#[derive(Debug)]
struct Lasting(Arc<dyn StoresServerSessions>);

impl StoresServerSessions for Lasting {
    fn put(&self, key: Vec<u8>, value: Vec<u8>) -> bool {
        self.0.put(key, value)
    }

    fn get(&self, key: &[u8]) -> Option<Vec<u8>> {
        self.0.get(key)
    }

    fn take(&self, key: &[u8]) -> Option<Vec<u8>> {
        self.0.get(key)
    }

    fn can_cache(&self) -> bool {
        self.0.can_cache()
    }
}

#[cfg(all(test, feature = "ring"))]
mod tests;
