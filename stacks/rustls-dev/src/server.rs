use std::sync::Arc;

use netbench_protocol::ServeSite;
use netbench_tls::TlsVersion;
use netbench_worker::{Accept, SetupError, own_server, refused, site_suites, stapled_response};
use rustls::{
    Connection, ServerConfig, ServerSide,
    enums::ApplicationProtocol,
    server::{NoServerSessionStorage, PreferServerOrder, Tls13Tickets},
};
use rustls_pki_types::PrivateKeyDer;
use rustls_ring::{ALL_TLS12_CIPHER_SUITES, DEFAULT_PROVIDER};

use crate::{
    settings::{held_to, identity, lacks},
    stream::Session,
};

/// Makes rustls' configuration for one site.
pub(crate) fn acceptor(site: &ServeSite) -> Result<Arc<dyn Accept>, SetupError> {
    let suites = site_suites(site);
    let mut provider = held_to(&site.versions, suites, &site.groups)?;
    if site.groups.is_empty() {
        provider.kx_groups = DEFAULT_PROVIDER.kx_groups;
    }
    let (chain, key) = identity(&site.chain_pem, &site.key_pem)?;
    serves_with(&key, &site.versions)?;
    let ocsp = stapled_response(site)?.unwrap_or_default();
    let mut config = ServerConfig::builder(Arc::new(provider))
        .with_no_client_auth()
        .with_single_cert_with_ocsp(chain, key, ocsp.into())
        .map_err(refused("chain and key"))?;
    config.cipher_suite_selector = &PreferServerOrder;
    let alpn = site.alpn.iter().map(|alpn| alpn.name().as_bytes());
    config.alpn_protocols = alpn.map(ApplicationProtocol::from).collect();
    let tickets = usize::from(site.tickets);
    config.send_tls13_tickets = Tls13Tickets {
        default: tickets,
        max: tickets,
    };
    if tickets == 0 {
        config.session_storage = Arc::new(NoServerSessionStorage {});
    } else {
        let ticketer = DEFAULT_PROVIDER.ticketer_factory.ticketer();
        config.ticketer = Some(ticketer.map_err(refused("ticketer"))?);
    }
    let config = Arc::new(config);
    Ok(own_server(move |socket| {
        let connection = Connection::<ServerSide, _>::new(Arc::clone(&config))?;
        Ok(Session::new(socket, connection, Vec::new()))
    }))
}

/// Refuses a server's key with which no suite of TLS 1.2 signs, where there is no other version.
fn serves_with(key: &PrivateKeyDer<'_>, versions: &[TlsVersion]) -> Result<(), SetupError> {
    if versions != [TlsVersion::Tls12] {
        return Ok(());
    }
    let key = DEFAULT_PROVIDER
        .key_provider
        .load_private_key(key.clone_key())
        .map_err(refused("key"))?;
    let mut suites = ALL_TLS12_CIPHER_SUITES.iter();
    if suites.any(|suite| key.choose_scheme(suite.sign).is_some()) {
        return Ok(());
    }
    Err(lacks("no TLS 1.2 with such keys"))
}
