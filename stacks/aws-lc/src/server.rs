use std::{pin::Pin, sync::Arc};

use netbench_libssl::{Identity, Libssl, Side, select_alpn};
use netbench_protocol::ServeSite;
use netbench_worker::{
    Accept, AcceptError, Accepted, BoxFuture, SetupError, site_suites, stapled_response,
};
use openssl::{
    error::ErrorStack,
    ssl::{
        Ssl, SslContext, SslContextBuilder, SslMethod, SslMode, SslOptions, SslSessionCacheMode,
        SslVerifyMode,
    },
};
use tokio::net::TcpStream;
use tokio_openssl::SslStream;

use crate::{ffi, negotiated::negotiated, preference, stack::AwsLc};

/// Makes AWS-LC's context for one site.
pub(crate) fn acceptor(site: &ServeSite) -> Result<Arc<dyn Accept>, SetupError> {
    let refused = |what: &'static str| move |e| SetupError::refused(what, e);
    let mut ssl = SslContext::builder(SslMethod::tls_server()).map_err(refused("context"))?;
    Identity::shared(&site.chain_pem, &site.key_pem)?.set(&mut ssl)?;
    let suites = site_suites(site);
    AwsLc::set_versions_and_suites(&mut ssl, &site.versions, suites)?;
    if !site.groups.is_empty() {
        AwsLc::set_groups(&mut ssl, &site.groups)?;
    }
    preference::prefer(&mut ssl, suites).map_err(refused("suites"))?;
    ssl.set_options(SslOptions::CIPHER_SERVER_PREFERENCE);
    // hyper may retry a write from a buffer that has moved or grown meanwhile, and tokio's streams write as
    // much as they can. SslConnector and SslAcceptor set the same modes.
    ssl.set_mode(
        SslMode::AUTO_RETRY | SslMode::ACCEPT_MOVING_WRITE_BUFFER | SslMode::ENABLE_PARTIAL_WRITE,
    );
    ssl.set_verify(SslVerifyMode::NONE);
    select_alpn(&mut ssl, &site.alpn);
    set_resumption(&mut ssl, site).map_err(refused("resumption"))?;
    let ocsp = stapled_response(site)?.unwrap_or_default();
    Ok(Arc::new(AwsLcAcceptor {
        context: ssl.build(),
        ocsp,
    }))
}

fn set_resumption(ssl: &mut SslContextBuilder, site: &ServeSite) -> Result<(), ErrorStack> {
    // Contexts do not share sessions, and this name would keep the sessions separate even if they did. It has
    // at most 32 bytes.
    let name = site.site.as_bytes();
    ssl.set_session_id_context(&name[..name.len().min(32)])?;
    AwsLc::set_tickets(ssl, usize::from(site.tickets))?;
    if site.tickets == 0 {
        ssl.set_options(SslOptions::NO_TICKET);
        ssl.set_session_cache_mode(SslSessionCacheMode::OFF);
    } else {
        ssl.set_session_cache_mode(SslSessionCacheMode::SERVER);
    }
    Ok(())
}

struct AwsLcAcceptor {
    context: SslContext,
    ocsp: Vec<u8>,
}

impl AwsLcAcceptor {
    fn ssl(&self) -> Result<Ssl, ErrorStack> {
        let mut ssl = Ssl::new(&self.context)?;
        if !self.ocsp.is_empty() {
            ffi::set_ocsp_response(&mut ssl, &self.ocsp)?;
        }
        Ok(ssl)
    }
}

impl Accept for AwsLcAcceptor {
    fn accept(&self, stream: TcpStream) -> BoxFuture<'static, Result<Accepted, AcceptError>> {
        let ssl = self.ssl();
        Box::pin(async move {
            let mut stream = SslStream::new(ssl?, stream)?;
            Pin::new(&mut stream).accept().await?;
            let negotiated = negotiated(stream.ssl(), Side::Server);
            Ok(Accepted {
                stream: Box::new(stream),
                negotiated,
            })
        })
    }
}
