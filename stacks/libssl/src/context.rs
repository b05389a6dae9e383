//! A client's context.

use std::{
    ffi::{c_int, c_void},
    net::IpAddr,
    sync::OnceLock,
};

use foreign_types_shared::ForeignTypeRef;
use http::Uri;
use netbench_protocol::ClientIdentity;
use netbench_tls::{Alpn, ClientSettings, Profile};
use netbench_worker::{
    ClientSetup, Probe, SetupError, alpn_list, made_once, preferred_alpn, refused,
};
use openssl::{
    error::ErrorStack,
    ex_data::Index,
    pkcs12::Pkcs12,
    pkey::{PKey, Private},
    ssl::{
        AlpnError, ConnectConfiguration, SslConnector, SslConnectorBuilder, SslContext,
        SslContextBuilder, SslMethod, SslRef, StatusType,
    },
    x509::{
        X509, X509StoreContext, X509StoreContextRef,
        store::{X509Store, X509StoreBuilder},
    },
};
use openssl_sys::X509_STORE_CTX;

use crate::Libssl;

/// Makes a context with all work that is done once: the roots are parsed, and verification is timed.
///
/// # Errors
/// Roots or a certificate that cannot be used, or settings that the library lacks.
pub fn verified_context<L: Libssl>(
    setup: &ClientSetup<'_>,
) -> Result<SslConnectorBuilder, SetupError> {
    let mut ssl = client_context::<L>(setup.settings)?;
    ssl.set_cert_store(roots(setup.roots_pem)?);
    if let Some(identity) = setup.identity {
        present(&mut ssl, identity)?;
    }
    watch_verification::<L>(&mut ssl, setup.probe).map_err(refused("verifier"))?;
    Ok(ssl)
}

/// Returns hyper-openssl's settings for each connection.
pub fn for_each_connection(
    profile: Profile,
) -> impl Fn(&mut ConnectConfiguration, &Uri) -> Result<(), ErrorStack> {
    // The client requests a stapled response, as rustls always does, so that both send and receive the same
    // messages.
    let stapled = profile != Profile::Library;
    move |config, uri| {
        if stapled {
            config.set_status_type(StatusType::OCSP)?;
        }
        // hyper-openssl takes the brackets as a part of a host name, which no certificate has.
        if let Some(address) = ipv6(uri) {
            config.set_use_server_name_indication(false);
            config.set_verify_hostname(false);
            config.param_mut().set_ip(address)?;
        }
        Ok(())
    }
}

/// Makes a client's context with these settings, without roots so far.
///
/// # Errors
/// Settings that the library lacks.
pub fn client_context<L: Libssl>(
    settings: &ClientSettings,
) -> Result<SslConnectorBuilder, SetupError> {
    let mut ssl = bare_context()?;
    ssl.set_alpn_protos(&alpn_list(&settings.alpn))
        .map_err(refused("ALPN"))?;
    if settings.profile == Profile::Library {
        L::set_versions(&mut ssl, &settings.versions)?;
    } else {
        L::set_versions_and_suites(&mut ssl, &settings.versions, &settings.suites)?;
        L::set_groups(&mut ssl, &settings.groups)?;
        L::set_schemes(&mut ssl, &settings.signatures)?;
    }
    Ok(ssl)
}

/// Makes a context as the openssl crate does.
///
/// It loads the system's roots too, as for every user of the crate. They would not be used, and as the runner
/// sets SSL_CERT_FILE and SSL_CERT_DIR to `/dev/null`, none are read.
///
/// # Errors
/// An error of the library.
pub fn bare_context() -> Result<SslConnectorBuilder, SetupError> {
    SslConnector::builder(SslMethod::tls_client()).map_err(refused("context"))
}

/// Makes a store with the trust roots of a PEM file.
///
/// # Errors
/// No root, or one that cannot be read.
pub fn roots(pem: &str) -> Result<X509Store, SetupError> {
    Ok(store(certificates(pem)?)?.build())
}

/// Reads the trust roots of a PEM file.
pub(crate) fn certificates(pem: &str) -> Result<Vec<X509>, SetupError> {
    match X509::stack_from_pem(pem.as_bytes()) {
        Ok(found) if found.is_empty() => Err(SetupError::Refused("roots: none".to_owned())),
        found => found.map_err(refused("roots")),
    }
}

/// Makes a store with these roots.
pub(crate) fn store(roots: Vec<X509>) -> Result<X509StoreBuilder, SetupError> {
    let mut store = X509StoreBuilder::new().map_err(refused("roots"))?;
    roots
        .into_iter()
        .try_for_each(|root| store.add_cert(root))
        .map_err(refused("roots"))?;
    Ok(store)
}

/// Makes a server select the first of its protocols that the client offers too; a client without a common one is refused
/// (RFC 7301 section 3.2).
pub fn select_alpn(ssl: &mut SslContextBuilder, protocols: &[Alpn]) {
    if protocols.is_empty() {
        return;
    }
    let protocols = protocols.to_vec();
    ssl.set_alpn_select_callback(move |_, offered| {
        preferred_alpn(&protocols, offered).ok_or(AlpnError::ALERT_FATAL)
    });
}

/// Returns the probe of a connection whose context is [`verified_context`]'s.
pub fn probe_of(ssl: &SslRef) -> Option<Probe> {
    ssl.ssl_context().ex_data(probe_index().ok()?).cloned()
}

/// Returns the connection whose chain is verified.
pub fn ssl_of(store: &X509StoreContextRef) -> Option<&SslRef> {
    store.ex_data(X509StoreContext::ssl_idx().ok()?)
}

/// Calls `X509_verify_cert`, which checks the chain and the name, and times it. Returns the result of a
/// [`VerifyCallback`](crate::VerifyCallback).
pub fn verify_timed<L: Libssl>(store: &mut X509StoreContextRef, probe: &Probe) -> c_int {
    let good = probe.verify(|| store.verify_cert().unwrap_or(false));
    if !good {
        let error = store.error();
        probe.certificate_fault(L::certificate_fault(error), error.error_string());
    }
    c_int::from(good)
}

/// Returns the IPv6 address that is the URI's host.
fn ipv6(uri: &Uri) -> Option<IpAddr> {
    let host = uri.host()?.strip_prefix('[')?.strip_suffix(']')?;
    host.parse().ok()
}

fn present(ssl: &mut SslContextBuilder, identity: &ClientIdentity) -> Result<(), SetupError> {
    let (chain, key) = match &identity.pkcs12_base64 {
        Some(file) => of_pkcs12(file, identity.password.as_deref())?,
        None => of_pem(identity)?,
    };
    let mut chain = chain.into_iter();
    let leaf = chain
        .next()
        .ok_or_else(|| SetupError::Refused("client certificate: none".to_owned()))?;
    ssl.set_certificate(&leaf)
        .map_err(refused("client certificate"))?;
    for more in chain {
        ssl.add_extra_chain_cert(more)
            .map_err(refused("client certificate"))?;
    }
    ssl.set_private_key(&key)
        .and_then(|()| ssl.check_private_key())
        .map_err(refused("client certificate and key"))
}

fn of_pem(identity: &ClientIdentity) -> Result<(Vec<X509>, PKey<Private>), SetupError> {
    let chain = X509::stack_from_pem(identity.chain_pem.as_bytes())
        .map_err(refused("client certificate"))?;
    let password = identity.password.as_deref().unwrap_or_default().as_bytes();
    // Without a callback, OpenSSL would ask for the password of an encrypted key on the terminal.
    let key = PKey::private_key_from_pem_callback(identity.key_pem.as_bytes(), |room| {
        let fits = room.get_mut(..password.len());
        Ok(fits.map_or(0, |room| {
            room.copy_from_slice(password);
            password.len()
        }))
    });
    Ok((chain, key.map_err(refused("client key"))?))
}

/// Returns the chain and the key of a PKCS#12 file in base64.
fn of_pkcs12(file: &str, password: Option<&str>) -> Result<(Vec<X509>, PKey<Private>), SetupError> {
    let der = openssl::base64::decode_block(file).map_err(refused("PKCS#12 file"))?;
    let parsed = Pkcs12::from_der(&der)
        .and_then(|file| file.parse2(password.unwrap_or_default()))
        .map_err(refused("PKCS#12 file"))?;
    let mut chain: Vec<X509> = parsed.cert.into_iter().collect();
    chain.extend(parsed.ca.into_iter().flatten());
    let key = parsed
        .pkey
        .ok_or_else(|| SetupError::Refused("PKCS#12 file: no key in it".to_owned()))?;
    Ok((chain, key))
}

/// Returns the index under which a context keeps the probe of its verifications; the probe is freed with the
/// context.
fn probe_index() -> Result<Index<SslContext, Probe>, ErrorStack> {
    static INDEX: OnceLock<Index<SslContext, Probe>> = OnceLock::new();
    made_once(&INDEX, SslContext::new_ex_index)
}

fn watch_verification<L: Libssl>(
    ssl: &mut SslContextBuilder,
    probe: &Probe,
) -> Result<(), ErrorStack> {
    ssl.set_ex_data(probe_index()?, probe.clone());
    L::set_cert_verify_callback(ssl, verify::<L>);
    Ok(())
}

/// Verifies a chain for [`verified_context`]'s connections.
extern "C" fn verify<L: Libssl>(store: *mut X509_STORE_CTX, _: *mut c_void) -> c_int {
    // SAFETY: OpenSSL calls this function with a live store context that no other code uses meanwhile.
    let store = unsafe { X509StoreContextRef::from_ptr_mut(store) };
    match ssl_of(store).and_then(probe_of) {
        Some(probe) => verify_timed::<L>(store, &probe),
        None => 0,
    }
}
