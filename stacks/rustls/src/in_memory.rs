//! Sessions over plain buffers: through the interface with buffers, which tokio-rustls uses too, or the
//! unbuffered one.

use std::{
    any::Any,
    io::{self, Read, Write},
    sync::Arc,
};

use netbench_protocol::Material;
use netbench_tls::{
    Aead, ClientAuth, FailureWord, Group, HandshakeKind, KeyType, Negotiated, SessionSettings,
    SignatureScheme,
};
use netbench_worker::{
    Buffered, BufferedSession, ChainsOfServer, Endpoint, EndpointSetup, EndpointSide, InMemory,
    InPlaceRecords, KEPT_SESSIONS, KeyExchange, RecordProtection, Session, SessionError,
    SetupError, Signatures, SigningPair, TICKETS, TrustRoots, Verifier, chain_of_pem, failed,
    key_of_pem, refused,
};
use rustls::{
    ClientConfig, ClientConnection, Connection, Error, HandshakeKind as Kind, ServerConfig,
    ServerConnection, SupportedCipherSuite,
    client::{Resumption, UnbufferedClientConnection, WebPkiServerVerifier},
    crypto::{CryptoProvider, WebPkiSupportedAlgorithms},
    server::{
        NoServerSessionStorage, ServerSessionMemoryCache, UnbufferedServerConnection,
        WebPkiClientVerifier,
    },
};
use rustls_pki_types::ServerName;

use crate::{
    chain::WebPki,
    client::roots,
    crypto::{self, RecordKeys, Signing},
    names,
    provider::{Provider, versions},
    stack::{Interface, Rustls},
    unbuffered::Unbuffered,
};

impl InMemory for Rustls {
    fn endpoint(&self, setup: &EndpointSetup<'_>) -> Result<Box<dyn Endpoint>, SetupError> {
        match setup.side {
            EndpointSide::Client => client(self, setup),
            EndpointSide::Server => server(self, setup),
        }
    }

    fn verifier(&self, roots_pem: &str, host: &str) -> Result<Box<dyn Verifier>, SetupError> {
        let provider = Arc::new(self.provider.by_default()?);
        let webpki = WebPkiServerVerifier::builder_with_provider(
            roots(TrustRoots::Pem(roots_pem))?,
            provider,
        )
        .build()
        .map_err(refused("verifier"))?;
        Ok(Box::new(ChainsOfServer::new(WebPki(webpki), host)?))
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
        Ok(Box::new(SigningPair::new(Signing::new(
            self.provider,
            key,
            material,
        )?)))
    }

    fn key_exchange(&self, group: Group) -> Result<Box<dyn KeyExchange>, SetupError> {
        self.has_cryptography_of_its_own()?;
        crypto::exchange(self.provider, group)
    }

    fn record_protection(&self, aead: Aead) -> Result<Box<dyn RecordProtection>, SetupError> {
        self.has_cryptography_of_its_own()?;
        Ok(Box::new(InPlaceRecords::new(RecordKeys::new(
            self.provider,
            aead,
        )?)))
    }
}

impl Rustls {
    fn has_cryptography_of_its_own(&self) -> Result<(), SetupError> {
        match self.interface {
            Interface::Buffered => Ok(()),
            Interface::Unbuffered | Interface::NoBufferLimit => Err(SetupError::unsupported(
                "it has the cryptography of the same stack with limited buffers",
            )),
        }
    }
}

fn client(stack: &Rustls, setup: &EndpointSetup<'_>) -> Result<Box<dyn Endpoint>, SetupError> {
    let (settings, material) = (setup.settings, setup.material);
    let builder = ClientConfig::builder_with_provider(provider(stack.provider, settings)?)
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
    Ok(Box::new(Client {
        config: Arc::new(config),
        name: ServerName::try_from(material.host.clone()).map_err(refused("host name"))?,
        interface: stack.interface,
    }))
}

fn server(stack: &Rustls, setup: &EndpointSetup<'_>) -> Result<Box<dyn Endpoint>, SetupError> {
    let (settings, material) = (setup.settings, setup.material);
    let provider = provider(stack.provider, settings)?;
    let builder = ServerConfig::builder_with_provider(provider.clone())
        .with_protocol_versions(&versions(&[settings.version])?)
        .map_err(refused("versions"))?;
    let builder = match settings.client_auth {
        ClientAuth::Off => builder.with_no_client_auth(),
        ClientAuth::On => {
            let trust = roots(TrustRoots::Pem(&material.roots_pem))?;
            let verifier = WebPkiClientVerifier::builder_with_provider(trust, provider)
                .build()
                .map_err(refused("verifier of clients"))?;
            builder.with_client_cert_verifier(verifier)
        }
    };
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
            config.ticketer = stack
                .provider
                .tickets()?
                .ok_or_else(|| stack.provider.lacks("no session tickets"))?;
        }
    }
    Ok(Box::new(Server {
        config: Arc::new(config),
        interface: stack.interface,
    }))
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
    let wanted = signatures.iter();
    let mapping: Vec<_> = wanted
        .map(|scheme| {
            let found = able.mapping.iter().find(|(s, _)| u16::from(*s) == scheme.0);
            found
                .copied()
                .ok_or_else(|| chosen.lacks(&format!("no verification of {scheme}")))
        })
        .collect::<Result<_, _>>()?;
    provider.signature_verification_algorithms = WebPkiSupportedAlgorithms {
        all: able.all,
        // rustls requires a list with static lifetime. One is made for each configuration, not for each
        // session.
        mapping: Vec::leak(mapping),
    };
    Ok(Arc::new(provider))
}

struct Client {
    config: Arc<ClientConfig>,
    name: ServerName<'static>,
    interface: Interface,
}

impl Endpoint for Client {
    fn session(&self) -> Result<Box<dyn Session>, SessionError> {
        let (config, name) = (Arc::clone(&self.config), self.name.clone());
        Ok(match self.interface {
            Interface::Buffered | Interface::NoBufferLimit => {
                let client =
                    ClientConnection::new(config, name).map_err(failed(FailureWord::Session))?;
                buffered(Connection::Client(client), self.interface)
            }
            Interface::Unbuffered => {
                let client = UnbufferedClientConnection::new(config, name)
                    .map_err(failed(FailureWord::Session))?;
                Box::new(Unbuffered::new(client))
            }
        })
    }
}

struct Server {
    config: Arc<ServerConfig>,
    interface: Interface,
}

impl Endpoint for Server {
    fn session(&self) -> Result<Box<dyn Session>, SessionError> {
        let config = Arc::clone(&self.config);
        Ok(match self.interface {
            Interface::Buffered | Interface::NoBufferLimit => {
                let server = ServerConnection::new(config).map_err(failed(FailureWord::Session))?;
                buffered(Connection::Server(server), self.interface)
            }
            Interface::Unbuffered => {
                let server = UnbufferedServerConnection::new(config)
                    .map_err(failed(FailureWord::Session))?;
                Box::new(Unbuffered::new(server))
            }
        })
    }
}

fn buffered(mut connection: Connection, interface: Interface) -> Box<dyn Session> {
    if interface == Interface::NoBufferLimit {
        connection.set_buffer_limit(None);
    }
    Box::new(Buffered::new(InMemorySession(connection)))
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

    fn negotiated(&self) -> Negotiated {
        names::negotiated(&self.0)
    }

    fn resumed(&self) -> bool {
        self.0.handshake_kind() == Some(Kind::Resumed)
    }
}
