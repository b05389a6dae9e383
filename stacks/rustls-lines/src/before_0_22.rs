//! rustls 0.20 and 0.21, which have ring's cryptography in them. It is the one that a build has the feature of.

use std::{sync::Arc, time::SystemTime};

use netbench_model::{CipherSuite, FailureWord, Group, HandshakeKind, SignatureScheme, TlsVersion};
use netbench_worker::{
    EndpointSetup, KEPT_SESSIONS, SessionError, SetupError, TrustRoots, Verifier,
};
use rustls::{
    ALL_CIPHER_SUITES, ALL_KX_GROUPS, Certificate, ClientConfig, Connection, Error, PrivateKey,
    RootCertStore, ServerConfig, ServerName, SupportedProtocolVersion, Ticketer,
    client::{ServerCertVerified, ServerCertVerifier, WebPkiVerifier},
    server::{NoServerSessionStorage, ServerSessionMemoryCache},
    version::{TLS12, TLS13},
};
use rustls_pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject};

use crate::in_memory::roots;

/// A server as a client calls it.
pub(crate) type Name = ServerName;

pub(crate) fn server_name(host: &str) -> Result<Name, SetupError> {
    ServerName::try_from(host).map_err(|e| SetupError::refused("host name", e))
}

pub(crate) fn suites() -> Vec<CipherSuite> {
    let has = |suite: &CipherSuite| {
        let mut all = ALL_CIPHER_SUITES.iter();
        all.any(|s| s.suite().get_u16() == suite.0)
    };
    CipherSuite::SERVED.iter().copied().filter(has).collect()
}

pub(crate) fn groups() -> Vec<Group> {
    let has = |group: &Group| {
        let mut all = ALL_KX_GROUPS.iter();
        all.any(|kx| kx.name.get_u16() == group.0)
    };
    Group::OFFERED.iter().copied().filter(has).collect()
}

pub(crate) fn verifies(scheme: SignatureScheme) -> bool {
    let all = WebPkiVerifier::verification_schemes();
    all.iter().any(|s| s.get_u16() == scheme.0)
}

pub(crate) fn agreed(connection: &Connection) -> (Option<TlsVersion>, Option<CipherSuite>) {
    let version = connection.protocol_version();
    let suite = connection.negotiated_cipher_suite();
    (
        version.and_then(|version| TlsVersion::of(version.get_u16())),
        suite.map(|suite| CipherSuite(suite.suite().get_u16())),
    )
}

/// A client's configuration as it is by default, but for its roots.
pub(crate) fn by_default(roots: &[CertificateDer<'_>]) -> Result<ClientConfig, SetupError> {
    Ok(ClientConfig::builder()
        .with_safe_defaults()
        .with_root_certificates(store(roots)?)
        .with_no_client_auth())
}

pub(crate) fn client(setup: &EndpointSetup<'_>) -> Result<ClientConfig, SetupError> {
    let trust = roots(TrustRoots::Pem(&setup.material.roots_pem))?;
    let verifier = Held {
        webpki: WebPkiVerifier::new(store(&trust)?, None),
        schemes: schemes(setup)?,
    };
    let mut config = ClientConfig::builder()
        .with_cipher_suites(&[suite(setup)?])
        .with_kx_groups(&kx_groups(setup)?)
        .with_protocol_versions(&[version(setup)?])
        .map_err(|e| SetupError::refused("versions", e))?
        .with_custom_certificate_verifier(Arc::new(verifier))
        .with_no_client_auth();
    config.max_fragment_size = fragment(setup);
    keep_sessions(&mut config, setup.kind);
    Ok(config)
}

#[cfg(feature = "rustls-0-20")]
fn keep_sessions(config: &mut ClientConfig, kind: HandshakeKind) {
    use rustls::client::{ClientSessionMemoryCache, NoClientSessionStorage};
    config.session_storage = match kind {
        HandshakeKind::Full => Arc::new(NoClientSessionStorage {}),
        HandshakeKind::SessionId | HandshakeKind::Ticket => {
            ClientSessionMemoryCache::new(KEPT_SESSIONS)
        }
    };
}

#[cfg(not(feature = "rustls-0-20"))]
fn keep_sessions(config: &mut ClientConfig, kind: HandshakeKind) {
    use rustls::client::Resumption;
    config.resumption = match kind {
        HandshakeKind::Full => Resumption::disabled(),
        HandshakeKind::SessionId | HandshakeKind::Ticket => {
            Resumption::in_memory_sessions(KEPT_SESSIONS)
        }
    };
}

pub(crate) fn server(setup: &EndpointSetup<'_>) -> Result<ServerConfig, SetupError> {
    let material = setup.material;
    let chain = CertificateDer::pem_slice_iter(material.chain_pem.as_bytes())
        .map(|der| der.map(|der| Certificate(der.to_vec())))
        .collect::<Result<_, _>>()
        .map_err(|e| SetupError::refused("chain", e))?;
    let key = PrivateKeyDer::from_pem_slice(material.key_pem.as_bytes())
        .map_err(|e| SetupError::refused("key", e))?;
    let mut config = ServerConfig::builder()
        .with_cipher_suites(&[suite(setup)?])
        .with_kx_groups(&kx_groups(setup)?)
        .with_protocol_versions(&[version(setup)?])
        .map_err(|e| SetupError::refused("versions", e))?
        .with_no_client_auth()
        .with_single_cert(chain, PrivateKey(key.secret_der().to_vec()))
        .map_err(|e| SetupError::refused("chain and key", e))?;
    config.max_fragment_size = fragment(setup);
    // rustls 0.20 gives one ticket, and cannot be told to give another number.
    #[cfg(not(feature = "rustls-0-20"))]
    {
        config.send_tls13_tickets = netbench_worker::TICKETS;
    }
    // Without a store and a ticketer, a server gives no ticket.
    config.session_storage = Arc::new(NoServerSessionStorage {});
    match setup.kind {
        HandshakeKind::Full => {}
        HandshakeKind::SessionId => {
            config.session_storage = ServerSessionMemoryCache::new(KEPT_SESSIONS);
        }
        HandshakeKind::Ticket => {
            config.ticketer = Ticketer::new().map_err(|e| SetupError::refused("ticketer", e))?;
        }
    }
    Ok(config)
}

fn suite(setup: &EndpointSetup<'_>) -> Result<rustls::SupportedCipherSuite, SetupError> {
    let suite = setup.settings.suite();
    let mut all = ALL_CIPHER_SUITES.iter().copied();
    all.find(|s| s.suite().get_u16() == suite.0)
        .ok_or_else(|| unsupported("suite", suite))
}

fn kx_groups(
    setup: &EndpointSetup<'_>,
) -> Result<Vec<&'static rustls::SupportedKxGroup>, SetupError> {
    let found = setup.settings.groups().into_iter().map(|group| {
        let mut all = ALL_KX_GROUPS.iter().copied();
        all.find(|kx| kx.name.get_u16() == group.0)
            .ok_or_else(|| unsupported("group", group))
    });
    found.collect()
}

fn schemes(setup: &EndpointSetup<'_>) -> Result<Vec<rustls::SignatureScheme>, SetupError> {
    let wanted = setup.settings.signatures().iter();
    wanted
        .map(|scheme| {
            let known = verifies(*scheme).then(|| rustls::SignatureScheme::from(scheme.0));
            known.ok_or_else(|| unsupported("verification of", scheme))
        })
        .collect()
}

fn unsupported(what: &str, name: impl std::fmt::Display) -> SetupError {
    SetupError::Unsupported(format!("no {what} {name} in this line of rustls"))
}

fn version(setup: &EndpointSetup<'_>) -> Result<&'static SupportedProtocolVersion, SetupError> {
    match setup.settings.version {
        TlsVersion::Tls12 => Ok(&TLS12),
        TlsVersion::Tls13 => Ok(&TLS13),
        other => Err(unsupported("version", other)),
    }
}

/// rustls counts a record's five bytes of header as part of the fragment.
fn fragment(setup: &EndpointSetup<'_>) -> Option<usize> {
    setup
        .max_fragment_bytes
        .map(|plaintext| usize::from(plaintext) + 5)
}

fn store(roots: &[CertificateDer<'_>]) -> Result<RootCertStore, SetupError> {
    let mut store = RootCertStore::empty();
    for root in roots {
        // As rustls' users do: a root that it cannot use is left out.
        let _ = store.add(&Certificate(root.to_vec()));
    }
    if store.is_empty() {
        return Err(SetupError::Refused(
            "roots: none that rustls can use".to_owned(),
        ));
    }
    Ok(store)
}

/// webpki, with fewer signature schemes.
struct Held {
    webpki: WebPkiVerifier,
    schemes: Vec<rustls::SignatureScheme>,
}

impl ServerCertVerifier for Held {
    fn verify_server_cert(
        &self,
        leaf: &Certificate,
        above: &[Certificate],
        name: &ServerName,
        scts: &mut dyn Iterator<Item = &[u8]>,
        ocsp_response: &[u8],
        now: SystemTime,
    ) -> Result<ServerCertVerified, Error> {
        self.webpki
            .verify_server_cert(leaf, above, name, scts, ocsp_response, now)
    }

    fn supported_verify_schemes(&self) -> Vec<rustls::SignatureScheme> {
        self.schemes.clone()
    }

    fn request_scts(&self) -> bool {
        self.webpki.request_scts()
    }
}

/// What verifies the chains of a server.
pub(crate) struct WebPki {
    webpki: WebPkiVerifier,
    name: Name,
}

impl WebPki {
    pub(crate) fn new(roots: &[CertificateDer<'_>], host: &str) -> Result<Self, SetupError> {
        Ok(Self {
            webpki: WebPkiVerifier::new(store(roots)?, None),
            name: server_name(host)?,
        })
    }
}

impl Verifier for WebPki {
    fn verify(&self, chain: &[Vec<u8>]) -> Result<(), SessionError> {
        let failed = |why: &dyn std::fmt::Display| SessionError::new(FailureWord::Verify, why);
        let chain: Vec<_> = chain.iter().map(|der| Certificate(der.clone())).collect();
        let (leaf, above) = chain
            .split_first()
            .ok_or_else(|| failed(&"an empty chain"))?;
        let none = &mut [].into_iter();
        self.webpki
            .verify_server_cert(leaf, above, &self.name, none, &[], SystemTime::now())
            .map(drop)
            .map_err(|e| failed(&e))
    }
}
