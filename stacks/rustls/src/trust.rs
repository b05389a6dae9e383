//! The roots that rustls' users use by default.

use std::sync::Arc;

use hyper_rustls::HttpsConnectorBuilder;
use netbench_tls::TrustOrigin;
use netbench_worker::{ChainInDer, OwnTrust, SetupError, refused, verify_chain};
use rustls::{
    ClientConfig, RootCertStore,
    client::{WebPkiServerVerifier, danger::ServerCertVerifier},
    crypto::CryptoProvider,
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
    let trust = match source {
        WEBPKI_ROOTS => {
            let roots = webpki_roots::TLS_SERVER_ROOTS.iter().cloned();
            let store = RootCertStore {
                roots: roots.collect(),
            };
            Trust::of_store(store, TrustOrigin::Bundled, &provider)?
        }
        NATIVE_CERTS => Trust::of_store(native_roots()?, TrustOrigin::System, &provider)?,
        PLATFORM_VERIFIER => {
            let verifier = rustls_platform_verifier::Verifier::new(provider.clone());
            Trust {
                verifier: Arc::new(verifier.map_err(refused("verifier"))?),
                roots: None,
                origin: TrustOrigin::System,
            }
        }
        other => return Err(SetupError::Unsupported(format!("no roots from {other}"))),
    };
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(refused("versions"))?
        .dangerous()
        .with_custom_certificate_verifier(trust.verifier.clone())
        .with_no_client_auth();
    // The making of the connector belongs to the measured work; chains are passed to its verifier.
    drop(
        HttpsConnectorBuilder::new()
            .with_tls_config(config)
            .https_only()
            .enable_all_versions()
            .build(),
    );
    let webpki = WebPki(trust.verifier);
    Ok(OwnTrust {
        roots: trust.roots,
        origin: trust.origin,
        verifier: Box::new(move |chain: &ChainInDer| verify_chain(&webpki, chain)),
    })
}

struct Trust {
    verifier: Arc<dyn ServerCertVerifier>,
    /// Number of roots, where the crate reports it.
    roots: Option<u32>,
    origin: TrustOrigin,
}

impl Trust {
    fn of_store(
        store: RootCertStore,
        origin: TrustOrigin,
        provider: &Arc<CryptoProvider>,
    ) -> Result<Self, SetupError> {
        let roots = u32::try_from(store.len()).ok();
        let builder =
            WebPkiServerVerifier::builder_with_provider(Arc::new(store), provider.clone());
        Ok(Self {
            verifier: builder.build().map_err(refused("verifier"))?,
            roots,
            origin,
        })
    }
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
