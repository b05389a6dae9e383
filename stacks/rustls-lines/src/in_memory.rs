//! Sessions over plain buffers.

use std::{
    any::Any,
    io::{self, Read, Write},
    sync::Arc,
};

use netbench_tls::{CipherSuite, ClientAuth, Negotiated, Profile, TlsVersion};
use netbench_worker::{
    Buffered, BufferedSession, Endpoint, EndpointSetup, EndpointSide, InMemory, Observed, Session,
    SessionError, SetupError, TrustRoots, Verifier, alpn_text, chains_of_server, der_length,
};
use rustls::{ClientConnection, CommonState, Connection, Error, ServerConnection};

use crate::{
    common::{Wanted, keep_client_sessions, keep_server_sessions},
    line::{self, server_name},
    stack::Line,
};

impl InMemory for Line {
    fn client(&self, setup: &EndpointSetup<'_>) -> Result<Box<dyn Endpoint>, SetupError> {
        without_client_auth(setup)?;
        let builder = line::client(&Wanted {
            roots_pem: &setup.material.roots_pem,
            profile: Profile::Default,
            parameters: setup.settings.into(),
            probe: None,
        })?;
        let mut config = builder.with_no_client_auth();
        config.max_fragment_size = setup.max_fragment_with_header();
        keep_client_sessions(&mut config, setup.kind);
        let (config, name) = (Arc::new(config), server_name(&setup.material.host)?);
        Ok(Box::new(move || {
            let client = ClientConnection::new(Arc::clone(&config), name.clone());
            session(client.map(Connection::Client), EndpointSide::Client)
        }))
    }

    fn server(&self, setup: &EndpointSetup<'_>) -> Result<Box<dyn Endpoint>, SetupError> {
        without_client_auth(setup)?;
        let (chain, key) = (&setup.material.chain_pem, &setup.material.key_pem);
        let mut config = line::server(&setup.settings.into(), chain, key, Vec::new())?;
        config.max_fragment_size = setup.max_fragment_with_header();
        keep_server_sessions(&mut config, setup.kind)?;
        let config = Arc::new(config);
        Ok(Box::new(move || {
            let server = ServerConnection::new(Arc::clone(&config));
            session(server.map(Connection::Server), EndpointSide::Server)
        }))
    }

    fn verifier(&self, roots_pem: &str, host: &str) -> Result<Box<dyn Verifier>, SetupError> {
        let webpki = line::WebPki::new(TrustRoots::Pem(roots_pem))?;
        chains_of_server(webpki, host)
    }

    fn configuration(&self, trust: TrustRoots<'_>) -> Result<Box<dyn Any>, SetupError> {
        Ok(Box::new(Arc::new(line::by_default(trust)?)))
    }
}

fn without_client_auth(setup: &EndpointSetup<'_>) -> Result<(), SetupError> {
    match setup.settings.client_auth {
        ClientAuth::Off => Ok(()),
        ClientAuth::On => Err(SetupError::unsupported(
            "the worker of this line of rustls sets up no client authentication",
        )),
    }
}

/// Returns the negotiated parameters according to a session, completed by the `observed` ones that it does
/// not report.
pub(crate) fn negotiated(session: &CommonState, observed: Negotiated) -> Negotiated {
    let version = session.protocol_version();
    let suite = session.negotiated_cipher_suite();
    // A resumed session remembers the chain, which was not sent again.
    let chain = session.peer_certificates();
    let chain = chain.filter(|_| !observed.resumed).unwrap_or_default();
    Negotiated {
        version: version.and_then(|version| TlsVersion::of(version.get_u16())),
        suite: suite.map(|suite| CipherSuite(suite.suite().get_u16())),
        alpn: alpn_text(session.alpn_protocol()),
        chain_bytes: chain.iter().map(der_length).collect(),
        ..observed
    }
}

fn session(
    made: Result<Connection, Error>,
    side: EndpointSide,
) -> Result<Box<dyn Session>, SessionError> {
    Buffered::session(made.map(|connection| Observing {
        connection,
        side,
        from_server: Observed::default(),
    }))
}

/// A session, with its server's messages in the clear: these lines do not report the group, or whether a
/// session was resumed.
struct Observing {
    connection: Connection,
    side: EndpointSide,
    from_server: Observed,
}

impl BufferedSession for Observing {
    type Error = Error;

    fn read_records(&mut self, input: &mut &[u8]) -> io::Result<usize> {
        self.connection.read_tls(input)
    }

    fn process(&mut self) -> Result<usize, Error> {
        let state = self.connection.process_new_packets()?;
        Ok(state.plaintext_bytes_to_read())
    }

    fn wants_write(&self) -> bool {
        self.connection.wants_write()
    }

    fn write_records(&mut self, output: &mut Vec<u8>) -> io::Result<usize> {
        self.connection.write_tls(output)
    }

    fn is_handshaking(&self) -> bool {
        self.connection.is_handshaking()
    }

    fn reader(&mut self) -> impl Read {
        self.connection.reader()
    }

    fn writer(&mut self) -> impl Write {
        self.connection.writer()
    }

    fn keep_all_records(&mut self) -> bool {
        self.connection.set_buffer_limit(None);
        true
    }

    fn observe_received(&mut self, records: &[u8]) {
        if self.side == EndpointSide::Client {
            self.from_server.received(records);
        }
    }

    fn observe_sent(&mut self, records: &[u8]) {
        if self.side == EndpointSide::Server {
            self.from_server.received(records);
        }
    }

    fn negotiated(&self) -> Negotiated {
        negotiated(&self.connection, self.from_server.negotiated())
    }

    fn resumed(&self) -> bool {
        self.from_server.negotiated().resumed
    }
}
