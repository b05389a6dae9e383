//! rustls 0.22 on connections.

use std::sync::Arc;

use netbench_model::{CipherSuite, ClientSettings, Profile, SignatureScheme};
use netbench_protocol::{ClientIdentity, ServeSite};
use netbench_worker::{Probe, SetupError, TrustRoots};
use rustls::{
    ClientConfig, DigitallySignedStruct, Error, ServerConfig,
    client::{
        WebPkiServerVerifier,
        danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
    },
    crypto::ring::default_provider,
};
use rustls_pki_types::{CertificateDer, ServerName, UnixTime};

use crate::{
    in_memory::roots,
    line::{held_to, identity, store, unsupported, verifies, versions},
};

pub(crate) fn client(
    settings: &ClientSettings,
    roots_pem: &str,
    identity_pem: Option<&ClientIdentity>,
    probe: &Probe,
) -> Result<ClientConfig, SetupError> {
    let provider = Arc::new(match settings.profile {
        Profile::Library => default_provider(),
        Profile::Default | Profile::Servo => held_to(&settings.suites, &settings.groups)?,
    });
    let roots = store(&roots(TrustRoots::Pem(roots_pem))?)?;
    let webpki = WebPkiServerVerifier::builder_with_provider(roots, Arc::clone(&provider))
        .build()
        .map_err(|e| SetupError::refused("verifier", e))?;
    let verifier = TimedVerifier {
        schemes: match settings.profile {
            Profile::Library => webpki.supported_verify_schemes(),
            Profile::Default | Profile::Servo => offered(&settings.signatures)?,
        },
        webpki,
        probe: probe.clone(),
    };
    let builder = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&versions(&settings.versions)?)
        .map_err(|e| SetupError::refused("versions", e))?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier));
    let Some(pem) = identity_pem else {
        return Ok(builder.with_no_client_auth());
    };
    let (chain, key) = identity(&pem.chain_pem, &pem.key_pem)?;
    builder
        .with_client_auth_cert(chain, key)
        .map_err(|e| SetupError::refused("client certificate", e))
}

pub(crate) fn server(site: &ServeSite, ocsp: Vec<u8>) -> Result<ServerConfig, SetupError> {
    let suites = if site.suites.is_empty() {
        CipherSuite::OFFERED
    } else {
        &site.suites
    };
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

/// The schemes to offer, in the order asked for.
fn offered(wanted: &[SignatureScheme]) -> Result<Vec<rustls::SignatureScheme>, SetupError> {
    let able = wanted.iter().map(|scheme| {
        let able = verifies(*scheme).then(|| rustls::SignatureScheme::from(scheme.0));
        able.ok_or_else(|| unsupported("verification of", scheme))
    });
    able.collect()
}

/// rustls' own verifier, with its time taken.
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
