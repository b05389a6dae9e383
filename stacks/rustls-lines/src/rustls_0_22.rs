//! rustls 0.22, whose cryptography already comes from a provider.

use std::sync::Arc;

use netbench_tls::{CipherSuite, FailureWord, Group, HandshakeKind, SignatureScheme};
use netbench_worker::{
    EndpointSetup, KEPT_SESSIONS, SessionError, SetupError, TICKETS, TrustRoots, Verifier,
    chain_of_pem, failed, key_of_pem, supported,
};
#[cfg(feature = "aws-lc")]
pub(crate) use rustls::crypto::aws_lc_rs as cryptography;
#[cfg(not(feature = "aws-lc"))]
pub(crate) use rustls::crypto::ring as cryptography;
use rustls::{
    ClientConfig, RootCertStore, ServerConfig,
    client::{Resumption, WebPkiServerVerifier, danger::ServerCertVerifier},
    crypto::{CryptoProvider, SupportedKxGroup, WebPkiSupportedAlgorithms},
};
use rustls_pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};

pub(crate) use cryptography::{ALL_CIPHER_SUITES, Ticketer};
use cryptography::{ALL_KX_GROUPS, default_provider};

use crate::{
    common::{cipher_suites, fragment, keep_server_sessions, unsupported, versions},
    in_memory::roots,
};

/// The name of the line in reports.
pub(crate) const LINE: &str = if cfg!(feature = "aws-lc") {
    "rustls 0.22 with aws-lc-rs"
} else {
    "rustls 0.22 with ring"
};

/// The type of a server's name.
pub(crate) type Name = ServerName<'static>;

pub(crate) fn server_name(host: &str) -> Result<Name, SetupError> {
    ServerName::try_from(host.to_owned()).map_err(|e| SetupError::refused("host name", e))
}

pub(crate) fn groups() -> Vec<Group> {
    supported(Group::OFFERED, |group| library_group(group).is_ok())
}

pub(crate) fn verifies(scheme: SignatureScheme) -> bool {
    let all = default_provider().signature_verification_algorithms.mapping;
    all.iter().any(|(s, _)| s.get_u16() == scheme.0)
}

/// Makes a client's default configuration, with these roots.
pub(crate) fn by_default(roots: &[CertificateDer<'_>]) -> Result<ClientConfig, SetupError> {
    Ok(
        ClientConfig::builder_with_provider(Arc::new(default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|e| SetupError::refused("versions", e))?
            .with_root_certificates(store(roots)?)
            .with_no_client_auth(),
    )
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
    config.send_tls13_tickets = match setup.kind {
        HandshakeKind::Full => 0,
        HandshakeKind::SessionId | HandshakeKind::Ticket => TICKETS,
    };
    keep_server_sessions(&mut config, setup.kind)?;
    Ok(config)
}

/// Parses a chain and its key, both PEM.
pub(crate) fn identity(
    chain_pem: &str,
    key_pem: &str,
) -> Result<(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>), SetupError> {
    let chain = chain_of_pem("chain", chain_pem)?;
    Ok((chain, key_of_pem("key", key_pem)?))
}

/// Returns the provider, restricted to these suites and groups, in their order.
pub(crate) fn held_to(
    suites: &[CipherSuite],
    groups: &[Group],
) -> Result<CryptoProvider, SetupError> {
    Ok(CryptoProvider {
        cipher_suites: cipher_suites(suites)?,
        kx_groups: groups
            .iter()
            .map(|group| library_group(*group))
            .collect::<Result<_, _>>()?,
        ..default_provider()
    })
}

fn library_group(group: Group) -> Result<&'static dyn SupportedKxGroup, SetupError> {
    let mut all = ALL_KX_GROUPS.iter().copied();
    let found = all.find(|kx| kx.name().get_u16() == group.0);
    found.ok_or_else(|| unsupported("group", group))
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
        let webpki = WebPkiServerVerifier::builder_with_provider(
            store(roots)?,
            Arc::new(default_provider()),
        )
        .build();
        Ok(Self {
            webpki: webpki.map_err(|e| SetupError::refused("verifier", e))?,
            name: server_name(host)?,
        })
    }
}

impl Verifier for WebPki {
    fn verify(&self, chain: &[Vec<u8>]) -> Result<(), SessionError> {
        let chain = chain.iter().map(|der| CertificateDer::from(der.as_slice()));
        let chain: Vec<_> = chain.collect();
        let (leaf, above) = chain
            .split_first()
            .ok_or("an empty chain")
            .map_err(failed(FailureWord::Verify))?;
        self.webpki
            .verify_server_cert(leaf, above, &self.name, &[], UnixTime::now())
            .map(drop)
            .map_err(failed(FailureWord::Verify))
    }
}
