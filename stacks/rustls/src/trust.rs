//! The roots that rustls' users use by default.

use std::sync::Arc;

use hyper_rustls::HttpsConnectorBuilder;
use netbench_tls::TrustOrigin;
use netbench_worker::{ChainInDer, OwnTrust, SetupError, refused, verify_chain};
use rustls::{
    ClientConfig, RootCertStore,
    client::{WebPkiServerVerifier, danger::ServerCertVerifier},
};

use crate::{chain::WebPki, provider::Provider};

const WEBPKI_ROOTS: &str = "webpki-roots";
const NATIVE_CERTS: &str = "rustls-native-certs";
const PLATFORM_VERIFIER: &str = "rustls-platform-verifier";

/// The possible sources of roots, by the names of the crates.
pub(crate) const SOURCES: [&str; 3] = [WEBPKI_ROOTS, NATIVE_CERTS, PLATFORM_VERIFIER];

/// Makes a client's connector with roots from `source`.
pub(crate) fn own_trust(provider: &dyn Provider, source: &str) -> Result<OwnTrust, SetupError> {
    let provider = Arc::new(provider.by_default()?);
    let (store, origin) = match source {
        WEBPKI_ROOTS => {
            let roots = webpki_roots::TLS_SERVER_ROOTS.iter().cloned();
            let roots = roots.collect();
            (Some(RootCertStore { roots }), TrustOrigin::Bundled)
        }
        NATIVE_CERTS => (Some(native_roots()?), TrustOrigin::System),
        PLATFORM_VERIFIER => (None, TrustOrigin::System),
        other => return Err(SetupError::Unsupported(format!("no roots from {other}"))),
    };
    // The platform's verifier does not report the number of its roots.
    let roots = store.as_ref().and_then(|it| u32::try_from(it.len()).ok());
    let verifier: Arc<dyn ServerCertVerifier> = match store {
        Some(store) => WebPkiServerVerifier::builder_with_provider(store.into(), provider.clone())
            .build()
            .map_err(refused("verifier"))?,
        None => {
            let verifier = rustls_platform_verifier::Verifier::new(provider.clone());
            Arc::new(verifier.map_err(refused("verifier"))?)
        }
    };
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(refused("versions"))?
        .dangerous()
        .with_custom_certificate_verifier(verifier.clone())
        .with_no_client_auth();
    // The making of the connector belongs to the measured work; chains are passed to its verifier.
    drop(
        HttpsConnectorBuilder::new()
            .with_tls_config(config)
            .https_only()
            .enable_all_versions()
            .build(),
    );
    let webpki = WebPki(verifier);
    Ok(OwnTrust {
        roots,
        origin,
        verifier: Box::new(move |chain: &ChainInDer| verify_chain(&webpki, chain)),
    })
}

/// Loads the roots as hyper-rustls' `with_native_roots` does: a root that cannot be used is left out, and at
/// least one must remain.
fn native_roots() -> Result<RootCertStore, SetupError> {
    let found = rustls_native_certs::load_native_certs();
    let mut store = RootCertStore::empty();
    let (added, _) = store.add_parsable_certificates(found.certs);
    if added > 0 {
        return Ok(store);
    }
    let mut words = "no native root CA certificates found".to_owned();
    for error in found.errors {
        words.push_str("; ");
        words.push_str(&error.to_string());
    }
    Err(SetupError::Refused(words))
}
