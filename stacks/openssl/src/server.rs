use std::{pin::Pin, sync::Arc};

use base64::{Engine, engine::general_purpose::STANDARD};
use netbench_model::CipherSuite;
use netbench_protocol::ServeSite;
use netbench_worker::{Accept, AcceptError, Accepted, BoxFuture, SetupError};
use openssl::ssl::{
    Ssl, SslContext, SslContextBuilder, SslMethod, SslMode, SslOptions, SslSessionCacheMode,
    SslVerifyMode,
};
use tokio::net::TcpStream;
use tokio_openssl::SslStream;

use crate::{
    alpn, ffi,
    identity::Identity,
    names::Side,
    negotiated::negotiated,
    settings::{OPTIONS, set_groups, set_tickets, set_versions_and_suites},
};

/// Makes OpenSSL's context for one site.
pub(crate) fn acceptor(site: &ServeSite) -> Result<Arc<dyn Accept>, SetupError> {
    let refused = |what: &'static str| move |e| SetupError::refused(what, e);
    let mut ssl = SslContext::builder(SslMethod::tls_server()).map_err(refused("context"))?;
    let own = Identity::shared(&site.chain_pem, &site.key_pem)?;
    own.set(&mut ssl)?;
    let suites = if site.suites.is_empty() {
        CipherSuite::OFFERED
    } else {
        &site.suites
    };
    set_versions_and_suites(&mut ssl, &site.versions, suites)?;
    if !site.groups.is_empty() {
        set_groups(&mut ssl, &site.groups)?;
    }
    ffi::set_dh_auto(&mut ssl);
    ssl.set_options(SslOptions::CIPHER_SERVER_PREFERENCE | OPTIONS);
    // hyper may offer a write again from a buffer that has moved or grown meanwhile, and tokio's
    // streams write what they can. SslConnector and SslAcceptor set the same.
    ssl.set_mode(
        SslMode::AUTO_RETRY | SslMode::ACCEPT_MOVING_WRITE_BUFFER | SslMode::ENABLE_PARTIAL_WRITE,
    );
    ssl.set_verify(SslVerifyMode::NONE);
    alpn::choose(&mut ssl, site.alpn.clone());
    set_resumption(&mut ssl, site).map_err(refused("resumption"))?;
    if let Some(text) = &site.ocsp_base64 {
        let response = STANDARD
            .decode(text)
            .map_err(|e| SetupError::refused("OCSP response", e))?;
        ssl.set_status_callback(move |ssl| ssl.set_ocsp_status(&response).map(|()| true))
            .map_err(refused("OCSP response"))?;
    }
    Ok(Arc::new(OpenSslAcceptor(ssl.build())))
}

fn set_resumption(
    ssl: &mut SslContextBuilder,
    site: &ServeSite,
) -> Result<(), openssl::error::ErrorStack> {
    // Contexts share nothing, and this keeps their sessions apart even if they did. At most 32 bytes.
    let name = site.site.as_bytes();
    ssl.set_session_id_context(&name[..name.len().min(32)])?;
    set_tickets(ssl, usize::from(site.tickets))?;
    if site.tickets == 0 {
        ssl.set_options(SslOptions::NO_TICKET);
        ssl.set_session_cache_mode(SslSessionCacheMode::OFF);
    } else {
        ssl.set_session_cache_mode(SslSessionCacheMode::SERVER);
    }
    Ok(())
}

struct OpenSslAcceptor(SslContext);

impl Accept for OpenSslAcceptor {
    fn accept(&self, stream: TcpStream) -> BoxFuture<'static, Result<Accepted, AcceptError>> {
        let stream = Ssl::new(&self.0).and_then(|ssl| SslStream::new(ssl, stream));
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
