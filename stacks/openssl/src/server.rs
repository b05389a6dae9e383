use std::{
    collections::HashMap,
    sync::{Arc, LazyLock, Mutex, PoisonError},
};

use netbench_libssl::{Identity, accepted, server_context};
use netbench_protocol::ServeSite;
use netbench_tls::TlsVersion;
use netbench_worker::{Accept, SetupError, accepting, ech_keys, refused, stapled_response};
use openssl::{
    error::ErrorStack,
    sha::sha256,
    ssl::{Ssl, SslContext, SslOptions},
};

use crate::{OpenSsl, ech, ffi};

/// Contexts by their settings. A context for each of ten thousand sites takes 170 MB. Sites with equal settings differ in
/// certificates, key and session context, which are given to each connection.
static CONTEXTS: LazyLock<Mutex<HashMap<String, SslContext>>> = LazyLock::new(Mutex::default);

/// Makes what accepts connections to one site.
pub(crate) fn acceptor(site: &ServeSite) -> Result<Arc<dyn Accept>, SetupError> {
    let identity = Identity::shared(&site.chain_pem, &site.key_pem)?;
    // The response is in the context's callback.
    let context = if site.ocsp_base64.is_some() {
        context(site)?
    } else {
        let settings = format!(
            "{:?} {:?} {:?} {:?} {} {:?} {:?}",
            site.versions,
            site.suites,
            site.groups,
            site.alpn,
            site.tickets,
            site.client_root_pem,
            site.ech_keys
        );
        let mut known = CONTEXTS.lock().unwrap_or_else(PoisonError::into_inner);
        match known.get(&settings) {
            Some(context) => context.clone(),
            None => {
                let new = context(site)?;
                known.insert(settings, new.clone());
                new
            }
        }
    };
    // No session is resumed at another site with the same context.
    let session_context = sha256(site.site.as_bytes());
    // Reports a wrong certificate or key before the first connection.
    connection(&context, &identity, &session_context).map_err(refused("chain and key"))?;
    Ok(accepting(move |stream| {
        let ssl = connection(&context, &identity, &session_context);
        accepted::<OpenSsl>(ssl, stream)
    }))
}

/// Makes a context with all settings of a site but its name and its certificates.
fn context(site: &ServeSite) -> Result<SslContext, SetupError> {
    let mut ssl = server_context::<OpenSsl>(site)?;
    ech::set_keys(&mut ssl, &ech_keys(site)?)?;
    if site.versions.iter().any(|version| version.is_deprecated()) {
        // OpenSSL 3 has TLS 1.0 and 1.1, whose signatures are of SHA-1, at level 0 alone.
        ssl.set_security_level(0);
        ssl.set_options(between(&site.versions));
    }
    ffi::set_dh_auto(&mut ssl);
    if let Some(response) = stapled_response(site)? {
        ssl.set_status_callback(move |ssl| ssl.set_ocsp_status(&response).map(|()| true))
            .map_err(refused("OCSP response"))?;
    }
    Ok(ssl.build())
}

/// Returns the options that turn off the versions that a site lacks between its first and its last.
fn between(versions: &[TlsVersion]) -> SslOptions {
    let options = [
        (TlsVersion::Tls11, SslOptions::NO_TLSV1_1),
        (TlsVersion::Tls12, SslOptions::NO_TLSV1_2),
    ];
    let missing = options
        .into_iter()
        .filter(|(version, _)| !versions.contains(version));
    missing.map(|(_, option)| option).collect()
}

/// Makes a connection with the certificates and the key of its site.
fn connection(
    context: &SslContext,
    identity: &Identity,
    session_context: &[u8; 32],
) -> Result<Ssl, ErrorStack> {
    let mut ssl = Ssl::new(context)?;
    let mut chain = identity.chain.iter();
    if let Some(leaf) = chain.next() {
        ssl.set_certificate(leaf)?;
    }
    for issuer in chain {
        ssl.add_chain_cert(issuer.clone())?;
    }
    ssl.set_private_key(&identity.key)?;
    ffi::set_session_id_context(&mut ssl, session_context)?;
    Ok(ssl)
}
