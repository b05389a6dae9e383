use std::sync::Arc;

use netbench_protocol::ServeSite;
use netbench_tls::{Alpn, CipherSuite, EarlyDataPolicy, TlsVersion};
use netbench_worker::{
    Accept, Accepted, SetupError, TrustRoots, accepting, chain_of_pem, key_of_pem, refused,
    stapled_response, supported,
};
use rustls::{
    ConfigBuilder, ServerConfig,
    crypto::CryptoProvider,
    server::{NoServerSessionStorage, WantsServerCert, WebPkiClientVerifier},
};
use tokio_rustls::TlsAcceptor;

use crate::{
    client::roots,
    early_server::EarlyAcceptor,
    names,
    provider::{Provider, versions},
};

/// Makes rustls' configuration for one site.
pub(crate) fn acceptor(
    chosen: &dyn Provider,
    site: &ServeSite,
) -> Result<Arc<dyn Accept>, SetupError> {
    let suites = if site.suites.is_empty() {
        // A FIPS module has fewer suites than other providers.
        let all = chosen.can_suites();
        supported(CipherSuite::OFFERED, |suite| all.contains(&suite))
    } else {
        site.suites.clone()
    };
    let provider = if site.groups.is_empty() {
        CryptoProvider {
            kx_groups: chosen.by_default()?.kx_groups,
            ..chosen.held_to(&suites, &[])?
        }
    } else {
        chosen.held_to(&suites, &site.groups)?
    };
    let mut config = config(chosen, site, provider.clone())?;
    match site.early_data {
        Some(EarlyDataPolicy::Retry) => {
            let groups = provider.kx_groups.iter().map(|group| {
                let alone = CryptoProvider {
                    kx_groups: vec![*group],
                    ..provider.clone()
                };
                Ok((group.name(), self::config(chosen, site, alone)?))
            });
            let groups = groups.collect::<Result<_, SetupError>>()?;
            let acceptor = EarlyAcceptor::new(config, EarlyDataPolicy::Retry);
            return Ok(Arc::new(acceptor.retrying(groups)));
        }
        Some(policy) => return Ok(Arc::new(EarlyAcceptor::new(config, policy))),
        None => {}
    }
    if site.tickets == 0 {
        config.session_storage = Arc::new(NoServerSessionStorage {});
    } else if let Some(ticketer) = chosen.tickets()? {
        config.ticketer = ticketer;
    }
    // Without a ticketer, rustls' tickets are only references to sessions that the server keeps.
    let acceptor = TlsAcceptor::from(Arc::new(config));
    Ok(accepting(move |stream| {
        let accepting = acceptor.accept(stream);
        async {
            let stream = accepting.await?;
            let (_, connection) = stream.get_ref();
            let negotiated = names::negotiated(connection);
            Ok(Accepted::new(stream, negotiated))
        }
    }))
}

/// Begins a configuration with a provider, which lacks its certificate. With a root, the server requires a certificate of its
/// client.
pub(crate) fn builder(
    provider: Arc<CryptoProvider>,
    allowed: &[TlsVersion],
    client_root: Option<&str>,
) -> Result<ConfigBuilder<ServerConfig, WantsServerCert>, SetupError> {
    let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_protocol_versions(&versions(allowed)?)
        .map_err(refused("versions"))?;
    let Some(root) = client_root else {
        return Ok(builder.with_no_client_auth());
    };
    let trust = roots(TrustRoots::Pem(root))?;
    let verifier = WebPkiClientVerifier::builder_with_provider(trust, provider).build();
    let verifier = verifier.map_err(refused("verifier of clients"))?;
    Ok(builder.with_client_cert_verifier(verifier))
}

/// Makes rustls' configuration with a provider, without a ticketer.
fn config(
    chosen: &dyn Provider,
    site: &ServeSite,
    provider: CryptoProvider,
) -> Result<ServerConfig, SetupError> {
    let chain = chain_of_pem("chain", &site.chain_pem)?;
    let key = key_of_pem("key", &site.key_pem)?;
    chosen.serves_with(&key, &site.versions)?;
    let ocsp = stapled_response(site)?.unwrap_or_default();
    let builder = builder(
        provider.into(),
        &site.versions,
        site.client_root_pem.as_deref(),
    )?;
    let mut config = builder
        .with_single_cert_with_ocsp(chain, key, ocsp)
        .map_err(refused("chain and key"))?;
    config.ignore_client_order = true;
    config.alpn_protocols = site.alpn.iter().map(|a: &Alpn| a.name().into()).collect();
    config.send_tls13_tickets = usize::from(site.tickets);
    Ok(config)
}
