//! A site's context, and the handshakes of its connections.

use std::pin::Pin;

use netbench_protocol::ServeSite;
use netbench_tls::{Alpn, Negotiated};
use netbench_worker::{AcceptError, Accepted, SetupError, refused, site_suites, supported};
use openssl::{
    error::ErrorStack,
    ssl::{
        Ssl, SslContext, SslContextBuilder, SslMethod, SslMode, SslOptions, SslSessionCacheMode,
        SslVerifyMode,
    },
};
use tokio::net::TcpStream;
use tokio_openssl::SslStream;

use crate::{Libssl, Side, context::roots as roots_of_pem, select_alpn};

/// Makes a context with the settings of a site, without its certificates.
///
/// # Errors
/// Settings that the library lacks.
pub fn server_context<L: Libssl>(site: &ServeSite) -> Result<SslContextBuilder, SetupError> {
    let mut ssl = SslContext::builder(SslMethod::tls_server()).map_err(refused("context"))?;
    L::set_versions_and_suites(&mut ssl, &site.versions, site_suites(site))?;
    if !site.groups.is_empty() {
        L::set_groups(&mut ssl, &site.groups)?;
    }
    ssl.set_options(SslOptions::CIPHER_SERVER_PREFERENCE | L::OPTIONS);
    // hyper may retry a write from a buffer that has moved or grown meanwhile, and tokio's streams write as
    // much as they can. SslConnector and SslAcceptor set the same modes.
    ssl.set_mode(
        SslMode::AUTO_RETRY | SslMode::ACCEPT_MOVING_WRITE_BUFFER | SslMode::ENABLE_PARTIAL_WRITE,
    );
    match &site.client_root_pem {
        None => ssl.set_verify(SslVerifyMode::NONE),
        Some(root) => require_certificates(&mut ssl, root)?,
    }
    // HTTP/2 needs TLS 1.2 (RFC 9113 section 9.2).
    let has_http2 = site.versions.iter().any(|version| !version.is_deprecated());
    let alpn = supported(&site.alpn, |alpn| has_http2 || alpn != Alpn::H2);
    select_alpn(&mut ssl, &alpn);
    L::set_tickets(&mut ssl, usize::from(site.tickets)).map_err(refused("resumption"))?;
    if site.tickets == 0 {
        ssl.set_options(SslOptions::NO_TICKET);
        ssl.set_session_cache_mode(SslSessionCacheMode::OFF);
    } else {
        ssl.set_session_cache_mode(SslSessionCacheMode::SERVER);
    }
    Ok(ssl)
}

/// Makes a server refuse clients without a certificate under this root.
fn require_certificates(ssl: &mut SslContextBuilder, root_pem: &str) -> Result<(), SetupError> {
    ssl.set_verify(SslVerifyMode::PEER | SslVerifyMode::FAIL_IF_NO_PEER_CERT);
    ssl.set_cert_store(roots_of_pem(root_pem)?);
    Ok(())
}

/// Performs the handshake of a new connection.
///
/// # Errors
/// The connection could not be made, or its handshake has failed.
pub async fn accepted<L: Libssl>(
    ssl: Result<Ssl, ErrorStack>,
    stream: TcpStream,
) -> Result<Accepted, AcceptError> {
    let mut stream = SslStream::new(ssl?, stream)?;
    Pin::new(&mut stream).accept().await?;
    let negotiated = Negotiated {
        ech: L::served_ech(stream.ssl()),
        ..L::negotiated(stream.ssl(), Side::Server)
    };
    Ok(Accepted::new(stream, negotiated))
}
