//! rustls 0.20 and 0.21, which include ring's cryptography. The feature of the build selects the release.

use std::{sync::Arc, time::SystemTime};

use netbench_tls::{CipherSuite, FailureWord, Group, HandshakeKind, SignatureScheme, TlsVersion};
use netbench_worker::{
    EndpointSetup, KEPT_SESSIONS, SessionError, SetupError, TrustRoots, Verifier,
};
use rustls::{
    ALL_CIPHER_SUITES, ALL_KX_GROUPS, Certificate, ClientConfig, CommonState, Error, PrivateKey,
    RootCertStore, ServerConfig, ServerName, SupportedProtocolVersion, Ticketer,
    client::{ServerCertVerified, ServerCertVerifier, WebPkiVerifier},
    server::{NoServerSessionStorage, ProducesTickets, ServerSessionMemoryCache},
    version::{TLS12, TLS13},
};
use rustls_pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject};

use crate::in_memory::roots;

/// The type of a server's name.
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

pub(crate) fn agreed(connection: &CommonState) -> (Option<TlsVersion>, Option<CipherSuite>) {
    let version = connection.protocol_version();
    let suite = connection.negotiated_cipher_suite();
    (
        version.and_then(|version| TlsVersion::of(version.get_u16())),
        suite.map(|suite| CipherSuite(suite.suite().get_u16())),
    )
}

/// Makes a client's default configuration, with these roots.
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
        schemes: schemes(setup.settings.signatures())?,
    };
    let mut config = ClientConfig::builder()
        .with_cipher_suites(&cipher_suites(&[setup.settings.suite()])?)
        .with_kx_groups(&kx_groups(&setup.settings.groups())?)
        .with_protocol_versions(&versions(&[setup.settings.version])?)
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
    let (chain, key) = identity(&setup.material.chain_pem, &setup.material.key_pem)?;
    let mut config = ServerConfig::builder()
        .with_cipher_suites(&cipher_suites(&[setup.settings.suite()])?)
        .with_kx_groups(&kx_groups(&setup.settings.groups())?)
        .with_protocol_versions(&versions(&[setup.settings.version])?)
        .map_err(|e| SetupError::refused("versions", e))?
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .map_err(|e| SetupError::refused("chain and key", e))?;
    config.max_fragment_size = fragment(setup);
    // rustls 0.20 sends one ticket, and has no setting for the number.
    #[cfg(not(feature = "rustls-0-20"))]
    {
        config.send_tls13_tickets = netbench_worker::TICKETS;
    }
    // Without a store and a ticketer, a server sends no ticket.
    config.session_storage = Arc::new(NoServerSessionStorage {});
    match setup.kind {
        HandshakeKind::Full => {}
        HandshakeKind::SessionId => {
            config.session_storage = ServerSessionMemoryCache::new(KEPT_SESSIONS);
        }
        HandshakeKind::Ticket => {
            config.ticketer = ticketer()?;
        }
    }
    Ok(config)
}

pub(crate) fn ticketer() -> Result<Arc<dyn ProducesTickets>, SetupError> {
    Ticketer::new().map_err(|e| SetupError::refused("ticketer", e))
}

/// Parses a chain and its key, both PEM.
pub(crate) fn identity(
    chain_pem: &str,
    key_pem: &str,
) -> Result<(Vec<Certificate>, PrivateKey), SetupError> {
    let chain = CertificateDer::pem_slice_iter(chain_pem.as_bytes())
        .map(|der| der.map(|der| Certificate(der.to_vec())))
        .collect::<Result<_, _>>()
        .map_err(|e| SetupError::refused("chain", e))?;
    let key = PrivateKeyDer::from_pem_slice(key_pem.as_bytes())
        .map_err(|e| SetupError::refused("key", e))?;
    Ok((chain, PrivateKey(key.secret_der().to_vec())))
}

pub(crate) fn cipher_suites(
    suites: &[CipherSuite],
) -> Result<Vec<rustls::SupportedCipherSuite>, SetupError> {
    let found = suites.iter().map(|suite| {
        let mut all = ALL_CIPHER_SUITES.iter().copied();
        all.find(|s| s.suite().get_u16() == suite.0)
            .ok_or_else(|| unsupported("suite", suite))
    });
    found.collect()
}

pub(crate) fn kx_groups(
    groups: &[Group],
) -> Result<Vec<&'static rustls::SupportedKxGroup>, SetupError> {
    let found = groups.iter().map(|group| {
        let mut all = ALL_KX_GROUPS.iter().copied();
        all.find(|kx| kx.name.get_u16() == group.0)
            .ok_or_else(|| unsupported("group", group))
    });
    found.collect()
}

pub(crate) fn schemes(
    wanted: &[SignatureScheme],
) -> Result<Vec<rustls::SignatureScheme>, SetupError> {
    wanted
        .iter()
        .map(|scheme| {
            let known = verifies(*scheme).then(|| rustls::SignatureScheme::from(scheme.0));
            known.ok_or_else(|| unsupported("verification of", scheme))
        })
        .collect()
}

pub(crate) fn unsupported(what: &str, name: impl std::fmt::Display) -> SetupError {
    SetupError::Unsupported(format!("no {what} {name} in this line of rustls"))
}

pub(crate) fn versions(
    versions: &[TlsVersion],
) -> Result<Vec<&'static SupportedProtocolVersion>, SetupError> {
    let of = |version: &TlsVersion| match version {
        TlsVersion::Tls12 => Ok(&TLS12),
        TlsVersion::Tls13 => Ok(&TLS13),
        other => Err(unsupported("version", other)),
    };
    versions.iter().map(of).collect()
}

/// Returns the fragment size, in which rustls counts a record's five bytes of header.
fn fragment(setup: &EndpointSetup<'_>) -> Option<usize> {
    setup
        .max_fragment_bytes
        .map(|plaintext| usize::from(plaintext) + 5)
}

pub(crate) fn store(roots: &[CertificateDer<'_>]) -> Result<RootCertStore, SetupError> {
    let mut store = RootCertStore::empty();
    for root in roots {
        // As rustls' users do, this leaves out a root that rustls cannot use.
        let _ = store.add(&Certificate(root.to_vec()));
    }
    if store.is_empty() {
        return Err(SetupError::Refused(
            "roots: none that rustls can use".to_owned(),
        ));
    }
    Ok(store)
}

/// webpki, restricted to fewer signature schemes.
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

/// A verifier of a server's chains.
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
