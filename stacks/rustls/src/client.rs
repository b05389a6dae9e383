use std::sync::Arc;

use hyper_rustls::{
    DefaultServerNameResolver, HttpsConnector, HttpsConnectorBuilder, MaybeHttpsStream,
};
use netbench_protocol::Ech;
use netbench_tls::{Alpn, ClientSettings, EchStatus, Negotiated, Profile, SignatureScheme};
use netbench_worker::{
    ClientSetup, Fetch, Probe, SetupError, TimedTcp, TrustRoots, Wire, all_of, chain_of_pem,
    key_of_pem, refused,
};
use rustls::{
    ClientConfig, DigitallySignedStruct, RootCertStore,
    client::{
        self, EchConfig, EchGreaseConfig, EchMode, WebPkiServerVerifier,
        danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
    },
    crypto::CryptoProvider,
};
use rustls_pki_types::{CertificateDer, EchConfigListBytes, ServerName, UnixTime};

use crate::{
    names,
    provider::{Provider, versions},
};

/// Parses the roots and makes rustls' configuration and hyper-rustls' connector, which writes no early data before the
/// handshake is done.
pub(crate) fn connector(
    provider: &dyn Provider,
    setup: &ClientSetup<'_>,
) -> Result<Box<dyn Fetch>, SetupError> {
    let mut config = config(provider, setup)?;
    config.enable_early_data = setup.early_data;
    let settings = setup.settings;
    let https = match settings.profile {
        Profile::Library => https_of_library(config, &settings.alpn, setup.tcp())?,
        Profile::Default | Profile::Servo => https(config, &settings.alpn, setup.tcp()),
    };
    Ok(Box::new(setup.hyper_client(https, inspect)))
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
    setup: &ClientSetup<'_>,
) -> Result<ClientConfig, SetupError> {
    let settings = setup.settings;
    let roots = roots(TrustRoots::Pem(setup.roots_pem))?;
    let cryptography = Arc::new(cryptography(provider, settings)?);
    let webpki = WebPkiServerVerifier::builder_with_provider(roots, cryptography.clone())
        .build()
        .map_err(refused("verifier"))?;
    let verifier = TimedVerifier {
        schemes: match settings.profile {
            Profile::Library => webpki.supported_verify_schemes(),
            Profile::Default | Profile::Servo => offered(provider, &settings.signatures, &webpki)?,
        },
        webpki,
        probe: setup.probe.clone(),
    };
    let builder = ClientConfig::builder_with_provider(cryptography);
    let builder = match setup.ech {
        // Only TLS 1.3 is offered with it.
        Some(ech) => builder
            .with_ech(ech_mode(provider, setup, ech)?)
            .map_err(refused("ECH"))?,
        None => builder
            .with_protocol_versions(&versions(&settings.versions)?)
            .map_err(refused("versions"))?,
    };
    let config = builder
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier));
    let Some(identity) = setup.identity else {
        return Ok(config.with_no_client_auth());
    };
    if identity.pkcs12_base64.is_some() {
        return Err(SetupError::unsupported("rustls reads no PKCS#12"));
    }
    let chain = chain_of_pem("client certificate", &identity.chain_pem)?;
    let key = key_of_pem("client key", &identity.key_pem)?;
    config
        .with_client_auth_cert(chain, key)
        .map_err(refused("client certificate"))
}

/// Makes the mode of Encrypted ClientHello.
fn ech_mode(
    provider: &dyn Provider,
    setup: &ClientSetup<'_>,
    ech: &Ech,
) -> Result<EchMode, SetupError> {
    match (ech, setup.ech_configs()?) {
        (Ech::Configs(_), Some(list)) => {
            let config = EchConfig::new(EchConfigListBytes::from(list), &provider.hpke());
            Ok(config.map_err(refused("ECH configurations"))?.into())
        }
        _ => {
            let suite = provider.hpke_with_x25519();
            let suite = suite.ok_or_else(|| provider.lacks("no HPKE"))?;
            let key = suite.generate_key_pair();
            let (key, _) = key.map_err(refused("HPKE"))?;
            Ok(EchGreaseConfig::new(suite, key).into())
        }
    }
}

/// Returns the outcome of Encrypted ClientHello in a finished handshake.
fn ech_status(status: client::EchStatus) -> Option<EchStatus> {
    match status {
        client::EchStatus::Accepted => Some(EchStatus::Accepted),
        client::EchStatus::Grease => Some(EchStatus::Grease),
        client::EchStatus::NotOffered
        | client::EchStatus::Offered
        | client::EchStatus::Rejected => None,
    }
}

/// Reads roots as rustls' users do: one that it cannot use is left out, and at least one must remain.
pub(crate) fn roots(trust: TrustRoots<'_>) -> Result<Arc<RootCertStore>, SetupError> {
    let mut store = RootCertStore::empty();
    trust.add_each(|der| store.add(der).is_ok())?;
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
            Negotiated {
                ech: ech_status(connection.ech_status()),
                ..names::negotiated(connection)
            }
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
    all_of(
        wanted,
        |scheme| able.iter().copied().find(|s| u16::from(*s) == scheme.0),
        |scheme| provider.lacks(&format!("no verification of {scheme}")),
    )
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
    ) -> Result<ServerCertVerified, rustls::Error> {
        self.probe.verify(|| {
            self.webpki
                .verify_server_cert(leaf, above, name, ocsp_response, now)
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
