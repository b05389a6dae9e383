//! rustls 0.22 on connections.

use std::{fmt::Display, sync::Arc, time::Duration};

use netbench_protocol::ServeSite;
use netbench_tls::{CertificateFault, Profile, SignatureScheme};
use netbench_worker::{
    ChainInDer, ClientSetup, NotVerified, Probe, SetupError, TrustRoots, site_suites,
};
use rustls::{
    ClientConfig, DigitallySignedStruct, Error, RootCertStore, ServerConfig,
    client::{
        VerifierBuilderError, WebPkiServerVerifier,
        danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
    },
};
use rustls_pki_types::{CertificateDer, CertificateRevocationListDer, ServerName, UnixTime};

use crate::{
    common::{schemes, versions},
    explain::fault_of,
    in_memory::roots,
    line::{cryptography::default_provider, held_to, identity, store},
};

pub(crate) fn client(setup: &ClientSetup<'_>) -> Result<ClientConfig, SetupError> {
    let settings = setup.settings;
    let provider = Arc::new(match settings.profile {
        Profile::Library => default_provider(),
        Profile::Default | Profile::Servo => held_to(&settings.suites, &settings.groups)?,
    });
    let roots = store(&roots(TrustRoots::Pem(setup.roots_pem))?)?;
    let webpki = WebPkiServerVerifier::builder_with_provider(roots, Arc::clone(&provider))
        .build()
        .map_err(|e| SetupError::refused("verifier", e))?;
    let verifier = TimedVerifier {
        schemes: match settings.profile {
            Profile::Library => webpki.supported_verify_schemes(),
            Profile::Default | Profile::Servo => schemes(&settings.signatures)?,
        },
        webpki,
        probe: setup.probe.clone(),
    };
    let builder = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&versions(&settings.versions)?)
        .map_err(|e| SetupError::refused("versions", e))?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier));
    let Some(pem) = setup.identity else {
        return Ok(builder.with_no_client_auth());
    };
    let (chain, key) = identity(&pem.chain_pem, &pem.key_pem)?;
    builder
        .with_client_auth_cert(chain, key)
        .map_err(|e| SetupError::refused("client certificate", e))
}

pub(crate) fn server(site: &ServeSite, ocsp: Vec<u8>) -> Result<ServerConfig, SetupError> {
    let suites = site_suites(site);
    let mut provider = held_to(suites, &site.groups)?;
    if site.groups.is_empty() {
        provider.kx_groups = default_provider().kx_groups;
    }
    let (chain, key) = identity(&site.chain_pem, &site.key_pem)?;
    ServerConfig::builder_with_provider(Arc::new(provider))
        .with_protocol_versions(&versions(&site.versions)?)
        .map_err(|e| SetupError::refused("versions", e))?
        .with_no_client_auth()
        .with_single_cert_with_ocsp(chain, key, ocsp)
        .map_err(|e| SetupError::refused("chain and key", e))
}

/// Verifies a chain as this line's clients do.
pub(crate) fn verify(chain: &ChainInDer) -> Result<(), NotVerified> {
    let mut roots = RootCertStore::empty();
    for root in &chain.roots {
        let _ = roots.add(CertificateDer::from(root.as_slice()));
    }
    let crls = chain.crls.iter().cloned();
    let verifier =
        WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::new(default_provider()))
            .with_crls(crls.map(CertificateRevocationListDer::from))
            .build();
    let verifier = verifier.map_err(|error| {
        let fault = match error {
            VerifierBuilderError::NoRootAnchors => CertificateFault::UnknownIssuer,
            VerifierBuilderError::InvalidCrl(_) => CertificateFault::BadEncoding,
            _ => CertificateFault::Other,
        };
        rejected(fault, &error)
    })?;
    let name = ServerName::try_from(chain.host.as_str());
    let name = name.map_err(|error| rejected(CertificateFault::WrongName, &error))?;
    let sent = chain
        .sent
        .iter()
        .map(|der| CertificateDer::from(der.as_slice()));
    let sent: Vec<_> = sent.collect();
    let Some((leaf, above)) = sent.split_first() else {
        return Err(NotVerified::Unsupported("an empty chain".to_owned()));
    };
    let at = UnixTime::since_unix_epoch(Duration::from_secs(chain.at_unix_s));
    let verified = verifier.verify_server_cert(leaf, above, &name, &[], at);
    verified
        .map(drop)
        .map_err(|error| rejected(fault_of(&error), &error))
}

fn rejected(fault: CertificateFault, error: &dyn Display) -> NotVerified {
    NotVerified::Rejected(fault, error.to_string())
}

/// rustls' own verifier, with its time measured.
#[derive(Debug)]
struct TimedVerifier {
    webpki: Arc<WebPkiServerVerifier>,
    schemes: Vec<rustls::SignatureScheme>,
    probe: Probe,
}

impl ServerCertVerifier for TimedVerifier {
    fn verify_server_cert(
        &self,
        leaf: &CertificateDer<'_>,
        above: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        self.probe.verify(|| {
            self.webpki
                .verify_server_cert(leaf, above, name, ocsp_response, now)
        })
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let scheme = SignatureScheme(signed.scheme.get_u16());
        self.probe.signature(scheme);
        self.webpki
            .verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let scheme = SignatureScheme(signed.scheme.get_u16());
        self.probe.signature(scheme);
        self.webpki
            .verify_tls13_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<rustls::SignatureScheme> {
        self.schemes.clone()
    }
}
