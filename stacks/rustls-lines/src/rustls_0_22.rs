//! rustls 0.22, whose cryptography already comes from a provider.

use std::sync::Arc;

use netbench_tls::{CipherSuite, FailureWord, Group, HandshakeKind, SignatureScheme, TlsVersion};
use netbench_worker::{
    EndpointSetup, KEPT_SESSIONS, SessionError, SetupError, TICKETS, TrustRoots, Verifier,
};
use rustls::{
    ClientConfig, CommonState, RootCertStore, ServerConfig, SupportedProtocolVersion,
    client::{Resumption, WebPkiServerVerifier, danger::ServerCertVerifier},
    crypto::{
        CryptoProvider, WebPkiSupportedAlgorithms,
        ring::{ALL_CIPHER_SUITES, ALL_KX_GROUPS, Ticketer, default_provider},
    },
    server::{NoServerSessionStorage, ProducesTickets, ServerSessionMemoryCache},
    version::{TLS12, TLS13},
};
use rustls_pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime, pem::PemObject};

use crate::in_memory::roots;

/// The type of a server's name.
pub(crate) type Name = ServerName<'static>;

pub(crate) fn server_name(host: &str) -> Result<Name, SetupError> {
    ServerName::try_from(host.to_owned()).map_err(|e| SetupError::refused("host name", e))
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
        all.any(|kx| kx.name().get_u16() == group.0)
    };
    Group::OFFERED.iter().copied().filter(has).collect()
}

pub(crate) fn verifies(scheme: SignatureScheme) -> bool {
    let all = default_provider().signature_verification_algorithms.mapping;
    all.iter().any(|(s, _)| s.get_u16() == scheme.0)
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
        .with_root_certificates(store(roots)?)
        .with_no_client_auth())
}

pub(crate) fn client(setup: &EndpointSetup<'_>) -> Result<ClientConfig, SetupError> {
    let trust = roots(TrustRoots::Pem(&setup.material.roots_pem))?;
    let mut config = ClientConfig::builder_with_provider(provider(setup)?)
        .with_protocol_versions(&versions(&[setup.settings.version])?)
        .map_err(|e| SetupError::refused("versions", e))?
        .with_root_certificates(store(&trust)?)
        .with_no_client_auth();
    config.max_fragment_size = fragment(setup);
    config.resumption = match setup.kind {
        HandshakeKind::Full => Resumption::disabled(),
        HandshakeKind::SessionId | HandshakeKind::Ticket => {
            Resumption::in_memory_sessions(KEPT_SESSIONS)
        }
    };
    Ok(config)
}

pub(crate) fn server(setup: &EndpointSetup<'_>) -> Result<ServerConfig, SetupError> {
    let (chain, key) = identity(&setup.material.chain_pem, &setup.material.key_pem)?;
    let mut config = ServerConfig::builder_with_provider(provider(setup)?)
        .with_protocol_versions(&versions(&[setup.settings.version])?)
        .map_err(|e| SetupError::refused("versions", e))?
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .map_err(|e| SetupError::refused("chain and key", e))?;
    config.max_fragment_size = fragment(setup);
    config.send_tls13_tickets = TICKETS;
    config.session_storage = Arc::new(NoServerSessionStorage {});
    match setup.kind {
        HandshakeKind::Full => config.send_tls13_tickets = 0,
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
) -> Result<(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>), SetupError> {
    let chain = CertificateDer::pem_slice_iter(chain_pem.as_bytes())
        .collect::<Result<_, _>>()
        .map_err(|e| SetupError::refused("chain", e))?;
    let key = PrivateKeyDer::from_pem_slice(key_pem.as_bytes())
        .map_err(|e| SetupError::refused("key", e))?;
    Ok((chain, key))
}

/// Returns the provider, restricted to these suites and groups, in their order.
pub(crate) fn held_to(
    suites: &[CipherSuite],
    groups: &[Group],
) -> Result<CryptoProvider, SetupError> {
    let suites = suites.iter().map(|suite| {
        let mut all = ALL_CIPHER_SUITES.iter().copied();
        let found = all.find(|s| s.suite().get_u16() == suite.0);
        found.ok_or_else(|| unsupported("suite", suite))
    });
    let groups = groups.iter().map(|group| {
        let mut all = ALL_KX_GROUPS.iter().copied();
        let found = all.find(|kx| kx.name().get_u16() == group.0);
        found.ok_or_else(|| unsupported("group", group))
    });
    Ok(CryptoProvider {
        cipher_suites: suites.collect::<Result<_, _>>()?,
        kx_groups: groups.collect::<Result<_, _>>()?,
        ..default_provider()
    })
}

/// Returns the provider, restricted to one suite, and to the groups and the schemes of the settings.
fn provider(setup: &EndpointSetup<'_>) -> Result<Arc<CryptoProvider>, SetupError> {
    let provider = held_to(&[setup.settings.suite()], &setup.settings.groups())?;
    let able = provider.signature_verification_algorithms;
    let mapping = setup.settings.signatures().iter().map(|scheme| {
        let found = able.mapping.iter().find(|(s, _)| s.get_u16() == scheme.0);
        found
            .copied()
            .ok_or_else(|| unsupported("verification of", scheme))
    });
    let mapping: Vec<_> = mapping.collect::<Result<_, _>>()?;
    Ok(Arc::new(CryptoProvider {
        signature_verification_algorithms: WebPkiSupportedAlgorithms {
            all: able.all,
            // rustls requires a list with static lifetime. One is made for each configuration, not for each
            // session.
            mapping: Vec::leak(mapping),
        },
        ..provider
    }))
}

pub(crate) fn unsupported(what: &str, name: impl std::fmt::Display) -> SetupError {
    SetupError::Unsupported(format!("no {what} {name} in rustls 0.22 with ring"))
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

pub(crate) fn store(roots: &[CertificateDer<'_>]) -> Result<Arc<RootCertStore>, SetupError> {
    let mut store = RootCertStore::empty();
    for root in roots {
        // As rustls' users do, this leaves out a root that rustls cannot use.
        let _ = store.add(root.clone());
    }
    if store.is_empty() {
        return Err(SetupError::Refused(
            "roots: none that rustls can use".to_owned(),
        ));
    }
    Ok(Arc::new(store))
}

/// A verifier of a server's chains.
pub(crate) struct WebPki {
    webpki: Arc<WebPkiServerVerifier>,
    name: Name,
}

impl WebPki {
    pub(crate) fn new(roots: &[CertificateDer<'_>], host: &str) -> Result<Self, SetupError> {
        let webpki = WebPkiServerVerifier::builder(store(roots)?).build();
        Ok(Self {
            webpki: webpki.map_err(|e| SetupError::refused("verifier", e))?,
            name: server_name(host)?,
        })
    }
}

impl Verifier for WebPki {
    fn verify(&self, chain: &[Vec<u8>]) -> Result<(), SessionError> {
        let failed = |why: &dyn std::fmt::Display| SessionError::new(FailureWord::Verify, why);
        let chain = chain.iter().map(|der| CertificateDer::from(der.as_slice()));
        let chain: Vec<_> = chain.collect();
        let (leaf, above) = chain
            .split_first()
            .ok_or_else(|| failed(&"an empty chain"))?;
        self.webpki
            .verify_server_cert(leaf, above, &self.name, &[], UnixTime::now())
            .map(drop)
            .map_err(|e| failed(&e))
    }
}
