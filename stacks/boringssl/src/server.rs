use std::sync::Arc;

use boring::{
    error::ErrorStack,
    ssl::{
        AlpnError, Ssl, SslContext, SslContextBuilder, SslMethod, SslMode, SslOptions,
        SslSessionCacheMode, SslVerifyMode,
    },
};
use netbench_protocol::ServeSite;
use netbench_tls::Negotiated;
use netbench_worker::{
    Accept, AcceptError, Accepted, EndpointSide, SetupError, accepting, ech_keys, preferred_alpn,
    refused, site_suites, stapled_response,
};
use tokio::net::TcpStream;
use tokio_boring::SslStreamBuilder;

use crate::{ech, negotiated::negotiated, settings};

/// Makes BoringSSL's context for one site.
pub(crate) fn acceptor(site: &ServeSite) -> Result<Arc<dyn Accept>, SetupError> {
    let mut ssl = SslContext::builder(SslMethod::tls()).map_err(refused("context"))?;
    settings::set_identity(&mut ssl, &site.chain_pem, &site.key_pem)?;
    let suites = site_suites(site);
    settings::set_versions_and_suites(&mut ssl, &site.versions, suites)?;
    if !site.groups.is_empty() {
        settings::set_groups(&mut ssl, &site.groups)?;
    }
    ssl.set_options(SslOptions::CIPHER_SERVER_PREFERENCE | SslOptions::NO_COMPRESSION);
    // hyper may retry a write from a buffer that has moved or grown meanwhile, and tokio's streams write as
    // much as they can. SslConnector and SslAcceptor set the same modes.
    ssl.set_mode(
        SslMode::AUTO_RETRY | SslMode::ACCEPT_MOVING_WRITE_BUFFER | SslMode::ENABLE_PARTIAL_WRITE,
    );
    ssl.set_verify(SslVerifyMode::NONE);
    if !site.alpn.is_empty() {
        let protocols = site.alpn.clone();
        // A client without a common protocol is refused (RFC 7301 section 3.2).
        ssl.set_alpn_select_callback(move |_, offered| {
            preferred_alpn(&protocols, offered).ok_or(AlpnError::ALERT_FATAL)
        });
    }
    set_resumption(&mut ssl, site).map_err(refused("resumption"))?;
    ech::set_up(&mut ssl, &ech_keys(site)?)?;
    let ocsp = stapled_response(site)?.unwrap_or_default();
    let context = ssl.build();
    Ok(accepting(move |stream| {
        accepted(connection(&context, &ocsp), stream)
    }))
}

fn set_resumption(ssl: &mut SslContextBuilder, site: &ServeSite) -> Result<(), ErrorStack> {
    // Contexts do not share sessions, and this name would keep the sessions separate even if they did. It has
    // at most 32 bytes.
    let name = site.site.as_bytes();
    ssl.set_session_id_context(&name[..name.len().min(32)])?;
    settings::set_tickets(ssl, usize::from(site.tickets))?;
    if site.tickets == 0 {
        ssl.set_options(SslOptions::NO_TICKET);
        ssl.set_session_cache_mode(SslSessionCacheMode::OFF);
    } else {
        ssl.set_session_cache_mode(SslSessionCacheMode::SERVER);
    }
    Ok(())
}

fn connection(context: &SslContext, ocsp: &[u8]) -> Result<Ssl, ErrorStack> {
    let mut ssl = Ssl::new(context)?;
    if !ocsp.is_empty() {
        ssl.set_ocsp_status(ocsp)?;
    }
    Ok(ssl)
}

async fn accepted(
    ssl: Result<Ssl, ErrorStack>,
    stream: TcpStream,
) -> Result<Accepted, AcceptError> {
    let stream = SslStreamBuilder::new(ssl?, stream).accept().await?;
    let negotiated = Negotiated {
        ech: ech::status(stream.ssl()),
        ..negotiated(stream.ssl(), EndpointSide::Server)
    };
    Ok(Accepted::new(stream, negotiated))
}
