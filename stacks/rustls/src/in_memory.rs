//! Sessions over plain buffers: through the interface with buffers, which tokio-rustls uses too, or the
//! unbuffered one.

use std::{
    any::Any,
    io::{self, BufRead, Read, Write},
    sync::Arc,
};

use netbench_protocol::Material;
use netbench_tls::{
    Aead, ClientAuth, Group, HandshakeKind, KeyType, Negotiated, SessionSettings, SignatureScheme,
};
use netbench_worker::{
    Buffered, BufferedSession, Endpoint, EndpointSetup, InMemory, InPlaceRecords, KEPT_SESSIONS,
    KeyExchange, RecordProtection, Session, SessionError, SetupError, Signatures, SigningPair,
    TICKETS, TrustRoots, Verifier, all_of, chain_of_pem, chains_of_server, key_of_pem, refused,
};
use rustls::{
    ClientConfig, ClientConnection, Connection, Error, HandshakeKind as Kind, ServerConnection,
    SupportedCipherSuite,
    client::{Resumption, UnbufferedClientConnection, WebPkiServerVerifier},
    crypto::{CryptoProvider, WebPkiSupportedAlgorithms},
    server::{NoServerSessionStorage, ServerSessionMemoryCache, UnbufferedServerConnection},
};
use rustls_pki_types::ServerName;

use crate::{
    chain::WebPki,
    client::roots,
    crypto::{self, RecordKeys, Signing},
    names,
    provider::{Provider, verification, versions},
    server,
    stack::{Rustls, Usage},
    unbuffered::Unbuffered,
};

impl InMemory for Rustls {
    fn client(&self, setup: &EndpointSetup<'_>) -> Result<Box<dyn Endpoint>, SetupError> {
        let (settings, material) = (setup.settings, setup.material);
        let builder = ClientConfig::builder_with_provider(provider(self.provider, settings)?)
            .with_protocol_versions(&versions(&[settings.version])?)
            .map_err(refused("versions"))?
            .with_root_certificates(roots(TrustRoots::Pem(&material.roots_pem))?);
        let mut config = match settings.client_auth {
            ClientAuth::Off => builder.with_no_client_auth(),
            ClientAuth::On => builder
                .with_client_auth_cert(
                    chain_of_pem("chain", &material.client_chain_pem)?,
                    key_of_pem("key", &material.client_key_pem)?,
                )
                .map_err(refused("client's chain and key"))?,
        };
        config.max_fragment_size = setup.max_fragment_with_header();
        config.resumption = match setup.kind {
            HandshakeKind::Full => Resumption::disabled(),
            // This is a client's default.
            HandshakeKind::SessionId | HandshakeKind::Ticket => {
                Resumption::in_memory_sessions(KEPT_SESSIONS)
            }
        };
        let name = ServerName::try_from(material.host.clone()).map_err(refused("host name"))?;
        let (config, usage) = (Arc::new(config), self.usage);
        Ok(Box::new(move || {
            let (config, name) = (Arc::clone(&config), name.clone());
            if usage == Usage::Unbuffered {
                return Unbuffered::session(UnbufferedClientConnection::new(config, name));
            }
            let client = ClientConnection::new(config, name);
            buffered(client.map(Connection::Client), usage)
        }))
    }

    fn server(&self, setup: &EndpointSetup<'_>) -> Result<Box<dyn Endpoint>, SetupError> {
        let (settings, material) = (setup.settings, setup.material);
        let provider = provider(self.provider, settings)?;
        let is_verifying = settings.client_auth == ClientAuth::On;
        let client_root = is_verifying.then_some(material.roots_pem.as_str());
        let builder = server::builder(provider, &[settings.version], client_root)?;
        let chain = chain_of_pem("chain", &material.chain_pem)?;
        let key = key_of_pem("key", &material.key_pem)?;
        let mut config = builder
            .with_single_cert(chain, key)
            .map_err(refused("chain and key"))?;
        config.max_fragment_size = setup.max_fragment_with_header();
        config.send_tls13_tickets = TICKETS;
        match setup.kind {
            HandshakeKind::Full => {
                config.session_storage = Arc::new(NoServerSessionStorage {});
                config.send_tls13_tickets = 0;
            }
            HandshakeKind::SessionId => {
                config.session_storage = ServerSessionMemoryCache::new(KEPT_SESSIONS);
            }
            HandshakeKind::Ticket => {
                config.session_storage = Arc::new(NoServerSessionStorage {});
                config.ticketer = self
                    .provider
                    .tickets()?
                    .ok_or_else(|| self.provider.lacks("no session tickets"))?;
            }
        }
        let (config, usage) = (Arc::new(config), self.usage);
        Ok(Box::new(move || {
            let config = Arc::clone(&config);
            if usage == Usage::Unbuffered {
                return Unbuffered::session(UnbufferedServerConnection::new(config));
            }
            let server = ServerConnection::new(config);
            buffered(server.map(Connection::Server), usage)
        }))
    }

    fn verifier(&self, roots_pem: &str, host: &str) -> Result<Box<dyn Verifier>, SetupError> {
        let provider = Arc::new(self.provider.by_default()?);
        let webpki = WebPkiServerVerifier::builder_with_provider(
            roots(TrustRoots::Pem(roots_pem))?,
            provider,
        )
        .build()
        .map_err(refused("verifier"))?;
        chains_of_server(WebPki(webpki), host)
    }

    fn configuration(&self, trust: TrustRoots<'_>) -> Result<Box<dyn Any>, SetupError> {
        let config = ClientConfig::builder_with_provider(Arc::new(self.provider.by_default()?))
            .with_safe_default_protocol_versions()
            .map_err(refused("versions"))?
            .with_root_certificates(roots(trust)?)
            .with_no_client_auth();
        Ok(Box::new(Arc::new(config)))
    }

    fn signatures(
        &self,
        key: KeyType,
        material: &Material,
    ) -> Result<Box<dyn Signatures>, SetupError> {
        self.has_cryptography_of_its_own()?;
        let key = Signing::new(self.provider, key, material)?;
        Ok(Box::new(SigningPair::new(key)))
    }

    fn key_exchange(&self, group: Group) -> Result<Box<dyn KeyExchange>, SetupError> {
        self.has_cryptography_of_its_own()?;
        crypto::exchange(self.provider, group)
    }

    fn record_protection(&self, aead: Aead) -> Result<Box<dyn RecordProtection>, SetupError> {
        self.has_cryptography_of_its_own()?;
        let keys = RecordKeys::new(self.provider, aead)?;
        Ok(Box::new(InPlaceRecords::new(keys)))
    }
}

impl Rustls {
    fn has_cryptography_of_its_own(&self) -> Result<(), SetupError> {
        match self.usage {
            Usage::Usual | Usage::Plain => Ok(()),
            Usage::Unbuffered | Usage::NoBufferLimit => Err(SetupError::unsupported(
                "it has the cryptography of the same stack with limited buffers",
            )),
        }
    }
}

/// Returns the library's own provider, restricted to one suite, one group and the schemes of the settings.
fn provider(
    chosen: &dyn Provider,
    settings: &SessionSettings,
) -> Result<Arc<CryptoProvider>, SetupError> {
    let mut provider = chosen.held_to(&[settings.suite()], &settings.groups())?;
    let signatures = settings.signatures();
    let signs = provider.cipher_suites.iter().all(|suite| match suite {
        SupportedCipherSuite::Tls12(suite) => {
            let mut schemes = suite.sign.iter();
            schemes.any(|s| signatures.contains(&SignatureScheme((*s).into())))
        }
        SupportedCipherSuite::Tls13(_) => true,
    });
    if !signs {
        let (version, key) = (settings.version, settings.key);
        return Err(chosen.lacks(&format!("no TLS {version} with keys of {key}")));
    }
    let able = provider.signature_verification_algorithms;
    let mapping = all_of(
        signatures,
        |scheme| verification(able.mapping, scheme),
        |scheme| chosen.lacks(&format!("no verification of {scheme}")),
    )?;
    provider.signature_verification_algorithms = WebPkiSupportedAlgorithms {
        all: able.all,
        // rustls requires a list with static lifetime. One is made for each configuration, not for each
        // session.
        mapping: Vec::leak(mapping),
    };
    Ok(Arc::new(provider))
}

fn buffered(
    made: Result<Connection, Error>,
    usage: Usage,
) -> Result<Box<dyn Session>, SessionError> {
    Buffered::session(made.map(|mut connection| {
        if usage == Usage::NoBufferLimit {
            connection.set_buffer_limit(None);
        }
        InMemorySession(connection)
    }))
}

struct InMemorySession(Connection);

impl BufferedSession for InMemorySession {
    type Error = Error;

    fn read_records(&mut self, input: &mut &[u8]) -> io::Result<usize> {
        self.0.read_tls(input)
    }

    fn process(&mut self) -> Result<usize, Error> {
        let state = self.0.process_new_packets()?;
        Ok(state.plaintext_bytes_to_read())
    }

    fn wants_write(&self) -> bool {
        self.0.wants_write()
    }

    fn write_records(&mut self, output: &mut Vec<u8>) -> io::Result<usize> {
        self.0.write_tls(output)
    }

    fn is_handshaking(&self) -> bool {
        self.0.is_handshaking()
    }

    fn reader(&mut self) -> impl Read {
        self.0.reader()
    }

    fn writer(&mut self) -> impl Write {
        self.0.writer()
    }

    fn keep_all_records(&mut self) -> bool {
        self.0.set_buffer_limit(None);
        true
    }

    fn consume(&mut self, _: &mut [u8]) -> io::Result<usize> {
        let mut reader = self.0.reader();
        let count = reader.fill_buf()?.len();
        reader.consume(count);
        Ok(count)
    }

    fn negotiated(&self) -> Negotiated {
        names::negotiated(&self.0)
    }

    fn resumed(&self) -> bool {
        self.0.handshake_kind() == Some(Kind::Resumed)
    }
}
