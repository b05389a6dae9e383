use std::sync::Arc;

use netbench_protocol::ServeSite;
use netbench_tls::{KeyExchange, SignatureScheme};
use netbench_worker::{
    Accept, Accepted, FFDHE2048_PEM, Parameters, SetupError, accepting, refused, stapled_response,
    supported,
};
use s2n_tls::config::Builder;
use s2n_tls_tokio::TlsAcceptor;

use crate::{
    client::{held_to, identify, without_delays},
    ffi,
    negotiated::negotiated,
    tickets::seal,
};

/// Makes s2n-tls' configuration for one site.
pub(crate) fn acceptor(site: &ServeSite) -> Result<Arc<dyn Accept>, SetupError> {
    let mut config = without_delays(Builder::new())?;
    identify(&mut config, &site.chain_pem, &site.key_pem)?;
    let parameters = Parameters::of_site(
        site,
        |it| ffi::suite(it).is_some(),
        |it| ffi::group(it).is_some(),
        supported(&SignatureScheme::known(), |it| ffi::scheme(it).is_some()),
    );
    let mut facts = parameters.suites.iter().filter_map(|suite| suite.facts());
    // The library validates the parameters again for each site, which takes long.
    if facts.any(|facts| facts.key_exchange == KeyExchange::Dhe) {
        config
            .add_dhparams(FFDHE2048_PEM.as_bytes())
            .map_err(refused("DH parameters"))?;
    }
    config
        .set_application_protocol_preference(site.alpn.iter().map(|alpn| alpn.name()))
        .map_err(refused("ALPN"))?;
    if let Some(response) = stapled_response(site)? {
        config
            .set_ocsp_data(&response)
            .map_err(refused("OCSP response"))?;
    }
    if site.tickets > 0 {
        seal(&mut config)?;
    }
    let config = held_to(parameters, config)?;
    if site.tickets > 0 {
        ffi::set_tickets(&config, site.tickets)?;
    }
    let acceptor = TlsAcceptor::new(config);
    Ok(accepting(move |stream| {
        let acceptor = acceptor.clone();
        async move {
            let stream = acceptor.accept(stream).await?;
            let negotiated = negotiated(stream.as_ref());
            Ok(Accepted::new(stream, negotiated))
        }
    }))
}
