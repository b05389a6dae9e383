use std::{
    ffi::{c_int, c_void},
    sync::OnceLock,
};

use foreign_types_shared::ForeignTypeRef;
use http::Uri;
use hyper_openssl::client::legacy::{HttpsConnector, MaybeHttpsStream};
use netbench_model::{Alpn, ClientSettings, Negotiated, Profile};
use netbench_worker::{Fetch, HyperClient, Probe, SetupError, TimedTcp, Wire};
use openssl::{
    error::ErrorStack,
    ex_data::Index,
    ssl::{
        SslConnector, SslConnectorBuilder, SslContext, SslContextBuilder, SslMethod, StatusType,
    },
    x509::{
        X509, X509StoreContext, X509StoreContextRef,
        store::{X509Store, X509StoreBuilder},
    },
};
use openssl_sys::X509_STORE_CTX;

use crate::{
    explain::certificate_fault,
    ffi,
    names::{self, Side},
    negotiated::negotiated,
    settings::{set_groups, set_versions, set_versions_and_suites},
};

/// Parses the roots and makes OpenSSL's context and hyper-openssl's connector.
pub(crate) fn connector(
    settings: &ClientSettings,
    roots_pem: &str,
    probe: &Probe,
) -> Result<Box<dyn Fetch>, SetupError> {
    let mut ssl = context(settings)?;
    ssl.set_cert_store(roots(roots_pem)?);
    watch_verification(&mut ssl, probe).map_err(|e| SetupError::refused("verifier", e))?;
    let tcp = TimedTcp::new(settings.profile, probe);
    let mut https = HttpsConnector::with_connector(tcp, ssl)
        .map_err(|e| SetupError::refused("connector", e))?;
    if settings.profile != Profile::Library {
        // rustls always asks for a stapled response, so that both send and get the same.
        https.set_callback(|config, _: &Uri| config.set_status_type(StatusType::OCSP));
    }
    Ok(Box::new(HyperClient::new(
        https,
        settings.profile,
        probe,
        inspect,
    )))
}

/// OpenSSL's context with these settings, and no roots yet.
pub(crate) fn context(settings: &ClientSettings) -> Result<SslConnectorBuilder, SetupError> {
    let mut ssl = bare_context()?;
    ssl.set_alpn_protos(&alpn(&settings.alpn))
        .map_err(|e| SetupError::refused("ALPN", e))?;
    if settings.profile == Profile::Library {
        set_versions(&mut ssl, settings.versions.iter().copied())?;
    } else {
        set_versions_and_suites(&mut ssl, &settings.versions, &settings.suites)?;
        set_groups(&mut ssl, &settings.groups)?;
        ssl.set_sigalgs_list(&names::list(&settings.signatures))
            .map_err(|e| SetupError::refused("signature schemes", e))?;
    }
    Ok(ssl)
}

/// A context as the openssl crate makes it.
///
/// It looks for the system's roots too, as for every user of the crate. They are not used, and the
/// runner has SSL_CERT_FILE and SSL_CERT_DIR name nothing, so that none are read.
pub(crate) fn bare_context() -> Result<SslConnectorBuilder, SetupError> {
    SslConnector::builder(SslMethod::tls_client()).map_err(|e| SetupError::refused("context", e))
}

pub(crate) fn roots(pem: &str) -> Result<X509Store, SetupError> {
    let refused = |e| SetupError::refused("roots", e);
    let roots = X509::stack_from_pem(pem.as_bytes()).map_err(refused)?;
    if roots.is_empty() {
        return Err(SetupError::Refused("roots: none".to_owned()));
    }
    let mut store = X509StoreBuilder::new().map_err(refused)?;
    for root in roots {
        store.add_cert(root).map_err(refused)?;
    }
    Ok(store.build())
}

/// ALPN's wire form: each name after its length (RFC 7301 section 3.1).
fn alpn(protocols: &[Alpn]) -> Vec<u8> {
    let mut wire = Vec::new();
    for name in protocols.iter().map(|alpn| alpn.name().as_bytes()) {
        wire.push(u8::try_from(name.len()).unwrap_or(u8::MAX));
        wire.extend(name);
    }
    wire
}

/// Where a context keeps the probe that its verifications report to; freed with the context.
fn probe_index() -> Result<Index<SslContext, Probe>, ErrorStack> {
    static INDEX: OnceLock<Index<SslContext, Probe>> = OnceLock::new();
    if let Some(index) = INDEX.get() {
        return Ok(*index);
    }
    let index = SslContext::new_ex_index()?;
    Ok(*INDEX.get_or_init(|| index))
}

fn watch_verification(ssl: &mut SslContextBuilder, probe: &Probe) -> Result<(), ErrorStack> {
    ssl.set_ex_data(probe_index()?, probe.clone());
    ffi::set_cert_verify_callback(ssl, verify);
    Ok(())
}

/// `X509_verify_cert`, which checks the chain and the name, with its time taken.
extern "C" fn verify(store: *mut X509_STORE_CTX, _: *mut c_void) -> c_int {
    // SAFETY: OpenSSL calls this with a live store context that nobody else uses meanwhile.
    let store = unsafe { X509StoreContextRef::from_ptr_mut(store) };
    let probe = X509StoreContext::ssl_idx()
        .ok()
        .and_then(|index| store.ex_data(index))
        .and_then(|ssl| ssl.ssl_context().ex_data(probe_index().ok()?))
        .cloned();
    let Some(probe) = probe else { return 0 };
    let good = probe.verify(|| store.verify_cert().unwrap_or(false));
    if !good {
        let error = store.error();
        probe.certificate_fault(certificate_fault(error), error.error_string());
    }
    c_int::from(good)
}

fn inspect(stream: &MaybeHttpsStream<Wire>) -> Negotiated {
    match stream {
        MaybeHttpsStream::Http(_) => Negotiated::default(),
        MaybeHttpsStream::Https(tls) => negotiated(tls.ssl(), Side::Client),
    }
}
