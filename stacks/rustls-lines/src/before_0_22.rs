//! rustls 0.20 and 0.21, which include ring's cryptography. The feature of the build selects the release.

use std::{sync::Arc, time::SystemTime};

use netbench_tls::{FailureWord, Group, HandshakeKind, SignatureScheme};
use netbench_worker::{
    EndpointSetup, KEPT_SESSIONS, Probe, SessionError, SetupError, TrustRoots, Verifier,
    chain_of_pem, failed, key_of_pem, supported,
};
pub(crate) use rustls::{ALL_CIPHER_SUITES, Ticketer};
use rustls::{
    ALL_KX_GROUPS, Certificate, ClientConfig, DigitallySignedStruct, Error, PrivateKey,
    RootCertStore, ServerConfig, ServerName,
    client::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier, WebPkiVerifier},
};
use rustls_pki_types::CertificateDer;

use crate::{
    common::{cipher_suites, fragment, keep_server_sessions, schemes, unsupported, versions},
    in_memory::roots,
};

/// The name of the line in reports.
pub(crate) const LINE: &str = "this line of rustls";

/// The type of a server's name.
pub(crate) type Name = ServerName;

pub(crate) fn server_name(host: &str) -> Result<Name, SetupError> {
    ServerName::try_from(host).map_err(|e| SetupError::refused("host name", e))
}

pub(crate) fn groups() -> Vec<Group> {
    supported(Group::OFFERED, |group| library_group(group).is_ok())
}

pub(crate) fn verifies(scheme: SignatureScheme) -> bool {
    let all = WebPkiVerifier::verification_schemes();
    all.iter().any(|s| s.get_u16() == scheme.0)
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
    let verifier = Restricted {
        webpki: WebPkiVerifier::new(store(&trust)?, None),
        schemes: schemes(setup.settings.signatures())?,
        probe: None,
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
    keep_server_sessions(&mut config, setup.kind)?;
    Ok(config)
}

/// Parses a chain and its key, both PEM.
pub(crate) fn identity(
    chain_pem: &str,
    key_pem: &str,
) -> Result<(Vec<Certificate>, PrivateKey), SetupError> {
    let chain = chain_of_pem("chain", chain_pem)?;
    let key = key_of_pem("key", key_pem)?;
    Ok((
        chain.iter().map(|der| Certificate(der.to_vec())).collect(),
        PrivateKey(key.secret_der().to_vec()),
    ))
}

pub(crate) fn kx_groups(
    groups: &[Group],
) -> Result<Vec<&'static rustls::SupportedKxGroup>, SetupError> {
    groups.iter().map(|group| library_group(*group)).collect()
}

fn library_group(group: Group) -> Result<&'static rustls::SupportedKxGroup, SetupError> {
    let mut all = ALL_KX_GROUPS.iter().copied();
    let found = all.find(|kx| kx.name.get_u16() == group.0);
    found.ok_or_else(|| unsupported("group", group))
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

/// webpki, restricted to fewer signature schemes, with its time measured where there is a probe.
pub(crate) struct Restricted {
    pub(crate) webpki: WebPkiVerifier,
    pub(crate) schemes: Vec<rustls::SignatureScheme>,
    pub(crate) probe: Option<Probe>,
}

impl Restricted {
    fn signed(&self, signed: &DigitallySignedStruct) {
        if let Some(probe) = &self.probe {
            probe.signature(SignatureScheme(signed.scheme.get_u16()));
        }
    }
}

impl ServerCertVerifier for Restricted {
    fn verify_server_cert(
        &self,
        leaf: &Certificate,
        above: &[Certificate],
        name: &ServerName,
        scts: &mut dyn Iterator<Item = &[u8]>,
        ocsp_response: &[u8],
        now: SystemTime,
    ) -> Result<ServerCertVerified, Error> {
        let webpki = &self.webpki;
        let Some(probe) = &self.probe else {
            return webpki.verify_server_cert(leaf, above, name, scts, ocsp_response, now);
        };
        probe.verify(|| webpki.verify_server_cert(leaf, above, name, scts, ocsp_response, now))
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &Certificate,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.signed(signed);
        self.webpki
            .verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &Certificate,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.signed(signed);
        self.webpki
            .verify_tls13_signature(message, certificate, signed)
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
        let chain: Vec<_> = chain.iter().map(|der| Certificate(der.clone())).collect();
        let (leaf, above) = chain
            .split_first()
            .ok_or("an empty chain")
            .map_err(failed(FailureWord::Verify))?;
        let none = &mut [].into_iter();
        self.webpki
            .verify_server_cert(leaf, above, &self.name, none, &[], SystemTime::now())
            .map(drop)
            .map_err(failed(FailureWord::Verify))
    }
}
