use std::{
    collections::HashMap,
    pin::Pin,
    sync::{Arc, LazyLock, Mutex, PoisonError},
};

use netbench_libssl::{Identity, Libssl, Side, select_alpn};
use netbench_protocol::ServeSite;
use netbench_worker::{
    Accept, AcceptError, Accepted, BoxFuture, SetupError, site_suites, stapled_response,
};
use openssl::{
    error::ErrorStack,
    sha::sha256,
    ssl::{
        Ssl, SslContext, SslContextBuilder, SslMethod, SslMode, SslOptions, SslRef,
        SslSessionCacheMode, SslVerifyMode,
    },
};
use tokio::net::TcpStream;
use tokio_openssl::SslStream;

use crate::{OpenSsl, ffi, negotiated::negotiated};

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
            "{:?} {:?} {:?} {:?} {}",
            site.versions, site.suites, site.groups, site.alpn, site.tickets
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
    let acceptor = OpenSslAcceptor {
        context,
        identity: Arc::new(identity),
        session_context: session_context(&site.site),
    };
    // Reports a wrong certificate or key before the first connection.
    acceptor
        .ssl()
        .map_err(|e| SetupError::refused("chain and key", e))?;
    Ok(Arc::new(acceptor))
}

/// Makes a context with all settings of a site but its name and its certificates.
fn context(site: &ServeSite) -> Result<SslContext, SetupError> {
    let refused = |what: &'static str| move |e| SetupError::refused(what, e);
    let mut ssl = SslContext::builder(SslMethod::tls_server()).map_err(refused("context"))?;
    let suites = site_suites(site);
    OpenSsl::set_versions_and_suites(&mut ssl, &site.versions, suites)?;
    if !site.groups.is_empty() {
        OpenSsl::set_groups(&mut ssl, &site.groups)?;
    }
    ffi::set_dh_auto(&mut ssl);
    ssl.set_options(SslOptions::CIPHER_SERVER_PREFERENCE | OpenSsl::OPTIONS);
    // hyper may retry a write from a buffer that has moved or grown meanwhile, and tokio's streams write as
    // much as they can. SslConnector and SslAcceptor set the same modes.
    ssl.set_mode(
        SslMode::AUTO_RETRY | SslMode::ACCEPT_MOVING_WRITE_BUFFER | SslMode::ENABLE_PARTIAL_WRITE,
    );
    ssl.set_verify(SslVerifyMode::NONE);
    select_alpn(&mut ssl, &site.alpn);
    set_resumption(&mut ssl, site).map_err(refused("resumption"))?;
    if let Some(response) = stapled_response(site)? {
        ssl.set_status_callback(move |ssl| ssl.set_ocsp_status(&response).map(|()| true))
            .map_err(refused("OCSP response"))?;
    }
    Ok(ssl.build())
}

/// Gives a connection the certificates and the key of its site.
fn set_identity(ssl: &mut SslRef, identity: &Identity) -> Result<(), ErrorStack> {
    let mut chain = identity.chain.iter();
    if let Some(leaf) = chain.next() {
        ssl.set_certificate(leaf)?;
    }
    for issuer in chain {
        ssl.add_chain_cert(issuer.clone())?;
    }
    ssl.set_private_key(&identity.key)
}

/// Returns the session context of a site: no session is resumed at another site with the same context.
fn session_context(site: &str) -> [u8; 32] {
    sha256(site.as_bytes())
}

fn set_resumption(ssl: &mut SslContextBuilder, site: &ServeSite) -> Result<(), ErrorStack> {
    OpenSsl::set_tickets(ssl, usize::from(site.tickets))?;
    if site.tickets == 0 {
        ssl.set_options(SslOptions::NO_TICKET);
        ssl.set_session_cache_mode(SslSessionCacheMode::OFF);
    } else {
        ssl.set_session_cache_mode(SslSessionCacheMode::SERVER);
    }
    Ok(())
}

struct OpenSslAcceptor {
    context: SslContext,
    identity: Arc<Identity>,
    session_context: [u8; 32],
}

impl OpenSslAcceptor {
    fn ssl(&self) -> Result<Ssl, ErrorStack> {
        let mut ssl = Ssl::new(&self.context)?;
        set_identity(&mut ssl, &self.identity)?;
        ffi::set_session_id_context(&mut ssl, &self.session_context)?;
        Ok(ssl)
    }
}

impl Accept for OpenSslAcceptor {
    fn accept(&self, stream: TcpStream) -> BoxFuture<'static, Result<Accepted, AcceptError>> {
        let stream = self.ssl().and_then(|ssl| SslStream::new(ssl, stream));
        Box::pin(async move {
            let mut stream = stream?;
            Pin::new(&mut stream).accept().await?;
            let negotiated = negotiated(stream.ssl(), Side::Server);
            Ok(Accepted {
                stream: Box::new(stream),
                negotiated,
            })
        })
    }
}
