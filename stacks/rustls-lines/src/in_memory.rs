//! Sessions over plain buffers.

use std::{
    any::Any,
    io::{Read, Write},
    sync::Arc,
};

use netbench_tls::{ClientAuth, FailureWord, Negotiated};
use netbench_worker::{
    Endpoint, EndpointSetup, EndpointSide, HandshakeState, InMemory, Observed, Session,
    SessionError, SetupError, TrustRoots, Verifier, der_length,
};
use rustls::{
    ClientConfig, ClientConnection, CommonState, Connection, ServerConfig, ServerConnection,
};
use rustls_pki_types::{CertificateDer, pem::PemObject};

use crate::{common, line, stack::Line};

impl InMemory for Line {
    fn endpoint(&self, setup: &EndpointSetup<'_>) -> Result<Box<dyn Endpoint>, SetupError> {
        if setup.settings.client_auth == ClientAuth::On {
            return Err(SetupError::unsupported(
                "the worker of this line of rustls sets up no client authentication",
            ));
        }
        Ok(match setup.side {
            EndpointSide::Client => Box::new(Client {
                config: Arc::new(line::client(setup)?),
                name: line::server_name(&setup.material.host)?,
            }),
            EndpointSide::Server => Box::new(Server(Arc::new(line::server(setup)?))),
        })
    }

    fn verifier(&self, roots_pem: &str, host: &str) -> Result<Box<dyn Verifier>, SetupError> {
        let webpki = line::WebPki::new(&roots(TrustRoots::Pem(roots_pem))?, host)?;
        Ok(Box::new(webpki))
    }

    fn configuration(&self, trust: TrustRoots<'_>) -> Result<Box<dyn Any>, SetupError> {
        Ok(Box::new(Arc::new(line::by_default(&roots(trust)?)?)))
    }
}

/// Returns the certificates of trust roots, in DER.
pub(crate) fn roots(trust: TrustRoots<'_>) -> Result<Vec<CertificateDer<'_>>, SetupError> {
    let read = match trust {
        TrustRoots::Pem(text) => CertificateDer::pem_slice_iter(text.as_bytes()).collect(),
        TrustRoots::File(path) => CertificateDer::pem_file_iter(path).and_then(Iterator::collect),
        TrustRoots::Der(all) => {
            let all = all.iter().map(|der| CertificateDer::from(der.as_slice()));
            return Ok(all.collect());
        }
    };
    read.map_err(|e| SetupError::refused("roots", e))
}

/// Returns the negotiated parameters according to a session, completed by the `observed` ones that it does
/// not report.
pub(crate) fn negotiated(session: &CommonState, observed: Negotiated) -> Negotiated {
    let (version, suite) = common::agreed(session);
    let alpn = session.alpn_protocol();
    // A resumed session remembers the chain, which was not sent again.
    let chain = session.peer_certificates();
    let chain = chain.filter(|_| !observed.resumed).unwrap_or_default();
    Negotiated {
        version,
        suite,
        alpn: alpn.map(|name| String::from_utf8_lossy(name).into_owned()),
        chain_bytes: chain.iter().map(der_length).collect(),
        ..observed
    }
}

struct Client {
    config: Arc<ClientConfig>,
    name: line::Name,
}

impl Endpoint for Client {
    fn session(&self) -> Result<Box<dyn Session>, SessionError> {
        let client = ClientConnection::new(Arc::clone(&self.config), self.name.clone());
        let client = client.map_err(|e| SessionError::new(FailureWord::Session, e))?;
        Ok(Box::new(Buffered::new(
            Connection::Client(client),
            EndpointSide::Client,
        )))
    }
}

struct Server(Arc<ServerConfig>);

impl Endpoint for Server {
    fn session(&self) -> Result<Box<dyn Session>, SessionError> {
        let server = ServerConnection::new(Arc::clone(&self.0));
        let server = server.map_err(|e| SessionError::new(FailureWord::Session, e))?;
        Ok(Box::new(Buffered::new(
            Connection::Server(server),
            EndpointSide::Server,
        )))
    }
}

/// A session, with its server's messages in the clear: these lines do not report the group, or whether a
/// session was resumed.
struct Buffered {
    connection: Connection,
    side: EndpointSide,
    from_server: Observed,
}

impl Buffered {
    fn new(connection: Connection, side: EndpointSide) -> Self {
        Self {
            connection,
            side,
            from_server: Observed::default(),
        }
    }

    fn write_out(&mut self, output: &mut Vec<u8>) -> Result<(), SessionError> {
        while self.connection.wants_write() {
            self.connection
                .write_tls(output)
                .map_err(|e| SessionError::new(FailureWord::Write, e))?;
        }
        Ok(())
    }

    /// Reads all of `input` and passes the plaintext of each part of it to `take`.
    fn read_in(
        &mut self,
        input: &mut Vec<u8>,
        mut take: impl FnMut(&mut Connection, usize) -> Result<(), SessionError>,
    ) -> Result<(), SessionError> {
        let mut rest = input.as_slice();
        while !rest.is_empty() {
            self.connection
                .read_tls(&mut rest)
                .map_err(|e| SessionError::new(FailureWord::Read, e))?;
            let state = self
                .connection
                .process_new_packets()
                .map_err(|e| SessionError::new(FailureWord::Handshake, e))?;
            take(&mut self.connection, state.plaintext_bytes_to_read())?;
        }
        input.clear();
        Ok(())
    }
}

impl Session for Buffered {
    fn handshake(
        &mut self,
        input: &mut Vec<u8>,
        output: &mut Vec<u8>,
    ) -> Result<HandshakeState, SessionError> {
        if self.side == EndpointSide::Client {
            self.from_server.received(input);
        }
        let before = output.len();
        self.read_in(input, |_, _| Ok(()))?;
        self.write_out(output)?;
        if self.side == EndpointSide::Server {
            self.from_server.received(&output[before..]);
        }
        Ok(if self.connection.is_handshaking() {
            HandshakeState::Going
        } else {
            HandshakeState::Done
        })
    }

    fn send(&mut self, mut plaintext: &[u8], output: &mut Vec<u8>) -> Result<(), SessionError> {
        while !plaintext.is_empty() {
            let taken = self
                .connection
                .writer()
                .write(plaintext)
                .map_err(|e| SessionError::new(FailureWord::Send, e))?;
            plaintext = &plaintext[taken..];
            self.write_out(output)?;
        }
        Ok(())
    }

    fn receive(
        &mut self,
        input: &mut Vec<u8>,
        plaintext: &mut [u8],
    ) -> Result<usize, SessionError> {
        let mut received = 0;
        self.read_in(input, |connection, mut ready| {
            while ready > 0 {
                let read = connection
                    .reader()
                    .read(plaintext)
                    .map_err(|e| SessionError::new(FailureWord::Receive, e))?;
                received += read;
                ready = ready.saturating_sub(read.max(1));
            }
            Ok(())
        })?;
        Ok(received)
    }

    fn negotiated(&self) -> Negotiated {
        negotiated(&self.connection, self.from_server.negotiated())
    }

    fn resumed(&self) -> bool {
        self.from_server.negotiated().resumed
    }
}
