use std::sync::Arc;

use hyper_rustls::{
    DefaultServerNameResolver, HttpsConnector, HttpsConnectorBuilder, MaybeHttpsStream,
};
use netbench_protocol::ClientIdentity;
use netbench_tls::{Alpn, ClientSettings, Negotiated, Profile, SignatureScheme};
use netbench_worker::{Fetch, HyperClient, Probe, SetupError, TimedTcp, Wire};
use rustls::{
    ClientConfig, DigitallySignedStruct, RootCertStore,
    client::{
        WebPkiServerVerifier,
        danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
    },
    crypto::CryptoProvider,
};
use rustls_pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime, pem::PemObject};

use crate::{
    names,
    provider::{Provider, versions},
};

/// Parses the roots and makes rustls' configuration and hyper-rustls' connector.
pub(crate) fn connector(
    provider: &dyn Provider,
    settings: &ClientSettings,
    roots_pem: &str,
    identity: Option<&ClientIdentity>,
    probe: &Probe,
) -> Result<Box<dyn Fetch>, SetupError> {
    let config = config(provider, settings, roots(roots_pem)?, identity, probe)?;
    with_config(config, settings, probe)
}

/// Makes the same connector, but with early data offered. hyper-rustls writes none before the handshake is
/// done.
pub(crate) fn early_connector(
    provider: &dyn Provider,
    settings: &ClientSettings,
    roots_pem: &str,
    identity: Option<&ClientIdentity>,
    probe: &Probe,
) -> Result<Box<dyn Fetch>, SetupError> {
    let mut config = config(provider, settings, roots(roots_pem)?, identity, probe)?;
    config.enable_early_data = true;
    with_config(config, settings, probe)
}

fn with_config(
    config: ClientConfig,
    settings: &ClientSettings,
    probe: &Probe,
) -> Result<Box<dyn Fetch>, SetupError> {
    let tcp = TimedTcp::new(settings.profile, probe);
    let https = match settings.profile {
        Profile::Library => https_of_library(config, &settings.alpn, tcp)?,
        Profile::Default | Profile::Servo => https(config, &settings.alpn, tcp),
    };
    Ok(Box::new(HyperClient::new(
        https,
        settings.profile,
        probe,
        inspect,
    )))
}

/// Returns the provider with the parameters that `settings` offer.
pub(crate) fn cryptography(
    provider: &dyn Provider,
    settings: &ClientSettings,
) -> Result<CryptoProvider, SetupError> {
    match settings.profile {
        Profile::Library => provider.by_default(),
        Profile::Default | Profile::Servo => provider.held_to(&settings.suites, &settings.groups),
    }
}

/// Makes rustls' configuration, without ALPN.
pub(crate) fn config(
    provider: &dyn Provider,
    settings: &ClientSettings,
    roots: Arc<RootCertStore>,
    identity: Option<&ClientIdentity>,
    probe: &Probe,
) -> Result<ClientConfig, SetupError> {
    let cryptography = Arc::new(cryptography(provider, settings)?);
    let webpki = WebPkiServerVerifier::builder_with_provider(roots, cryptography.clone())
        .build()
        .map_err(|e| SetupError::refused("verifier", e))?;
    let verifier = TimedVerifier {
        schemes: match settings.profile {
            Profile::Library => webpki.supported_verify_schemes(),
            Profile::Default | Profile::Servo => offered(provider, &settings.signatures, &webpki)?,
        },
        webpki,
        probe: probe.clone(),
    };
    let config = ClientConfig::builder_with_provider(cryptography)
        .with_protocol_versions(&versions(&settings.versions)?)
        .map_err(|e| SetupError::refused("versions", e))?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier));
    let Some(identity) = identity else {
        return Ok(config.with_no_client_auth());
    };
    if identity.pkcs12_base64.is_some() {
        return Err(SetupError::Unsupported(
            "rustls reads no PKCS#12".to_owned(),
        ));
    }
    let chain = CertificateDer::pem_slice_iter(identity.chain_pem.as_bytes());
    let chain = chain.collect::<Result<Vec<_>, _>>();
    let chain = chain.map_err(|e| SetupError::refused("client certificate", e))?;
    let key = PrivateKeyDer::from_pem_slice(identity.key_pem.as_bytes())
        .map_err(|e| SetupError::refused("client key", e))?;
    config
        .with_client_auth_cert(chain, key)
        .map_err(|e| SetupError::refused("client certificate", e))
}

pub(crate) fn roots(pem: &str) -> Result<Arc<RootCertStore>, SetupError> {
    let mut store = RootCertStore::empty();
    for der in CertificateDer::pem_slice_iter(pem.as_bytes()) {
        let der = der.map_err(|e| SetupError::refused("roots", e))?;
        // As rustls' users do, this leaves out a root that rustls cannot use.
        let _ = store.add(der);
    }
    if store.is_empty() {
        return Err(SetupError::Refused(
            "roots: none that rustls can use".to_owned(),
        ));
    }
    Ok(Arc::new(store))
}

/// Offers exactly `alpn`. hyper-rustls' builder would offer no protocol for only HTTP/1.1, where
/// hyper-openssl offers the configured list.
fn https(mut config: ClientConfig, alpn: &[Alpn], tcp: TimedTcp) -> HttpsConnector<TimedTcp> {
    config.alpn_protocols = alpn.iter().map(|alpn| alpn.name().into()).collect();
    let name = Arc::new(DefaultServerNameResolver::default());
    HttpsConnector::new(tcp, config, true, name)
}

/// Sets ALPN as hyper-rustls' builder does by default.
fn https_of_library(
    config: ClientConfig,
    alpn: &[Alpn],
    tcp: TimedTcp,
) -> Result<HttpsConnector<TimedTcp>, SetupError> {
    let builder = HttpsConnectorBuilder::new()
        .with_tls_config(config)
        .https_only();
    match alpn {
        [Alpn::H2, Alpn::Http11] => Ok(builder.enable_all_versions().wrap_connector(tcp)),
        [Alpn::Http11] | [] => Ok(builder.enable_http1().wrap_connector(tcp)),
        [Alpn::H2] => Ok(builder.enable_http2().wrap_connector(tcp)),
        other => Err(SetupError::Unsupported(format!(
            "hyper-rustls' builder cannot offer {other:?}"
        ))),
    }
}

fn inspect(stream: &MaybeHttpsStream<Wire>) -> Negotiated {
    match stream {
        MaybeHttpsStream::Http(_) => Negotiated::default(),
        MaybeHttpsStream::Https(tls) => {
            let (_, connection) = tls.inner().get_ref();
            let suite = connection
                .negotiated_cipher_suite()
                .map(|suite| suite.suite());
            names::negotiated(connection, suite)
        }
    }
}

/// Returns the schemes to offer, in the given order.
fn offered(
    provider: &dyn Provider,
    wanted: &[SignatureScheme],
    webpki: &WebPkiServerVerifier,
) -> Result<Vec<rustls::SignatureScheme>, SetupError> {
    let able = webpki.supported_verify_schemes();
    wanted
        .iter()
        .map(|scheme| {
            let found = able.iter().find(|s| u16::from(**s) == scheme.0);
            found
                .copied()
                .ok_or_else(|| provider.lacks(&format!("no verification of {scheme}")))
        })
        .collect()
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
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        self.probe.verify(|| {
            self.webpki.verify_server_cert(
                end_entity,
                intermediates,
                server_name,
                ocsp_response,
                now,
            )
        })
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.probe.signature(SignatureScheme(signed.scheme.into()));
        self.webpki.verify_tls12_signature(message, cert, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.probe.signature(SignatureScheme(signed.scheme.into()));
        self.webpki.verify_tls13_signature(message, cert, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<rustls::SignatureScheme> {
        self.schemes.clone()
    }
}
