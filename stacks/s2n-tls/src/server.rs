use std::sync::Arc;

use netbench_protocol::ServeSite;
use netbench_tls::{KeyExchange, SignatureScheme};
use netbench_worker::{
    Accept, Accepted, Parameters, SetupError, accepting, refused, stapled_response, supported,
};
use s2n_tls::config::Builder;
use s2n_tls_tokio::TlsAcceptor;

use crate::{
    client::{held_to, without_delays},
    ffi,
    negotiated::negotiated,
    tickets::seal,
};

/// ffdhe2048 (RFC 7919 appendix A.1), without which the library has no suite with DHE.
const FFDHE2048: &str = "-----BEGIN DH PARAMETERS-----
MIIBCAKCAQEA//////////+t+FRYortKmq/cViAnPTzx2LnFg84tNpWp4TZBFGQz
+8yTnc4kmz75fS/jY2MMddj2gbICrsRhetPfHtXV/WVhJDP1H18GbtCFY2VVPe0a
87VXE15/V8k1mE8McODmi3fipona8+/och3xWKE2rec1MKzKT0g6eXq8CrGCsyT7
YdEIqUuyyOP7uWrat2DX9GgdT0Kj3jlN9K5W7edjcrsZCwenyO4KbXCeAvzhzffi
7MA0BM0oNC9hkXL+nOmFg/+OTxIy7vKBg8P+OxtMb61zO7X8vC7CIAXFjvGDfRaD
ssbzSibBsu/6iGtCOGEoXJf//////////wIBAg==
-----END DH PARAMETERS-----
";

/// Makes s2n-tls' configuration for one site.
pub(crate) fn acceptor(site: &ServeSite) -> Result<Arc<dyn Accept>, SetupError> {
    let mut config = without_delays(Builder::new())?;
    config
        .load_pem(site.chain_pem.as_bytes(), site.key_pem.as_bytes())
        .map_err(refused("chain and key"))?;
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
            .add_dhparams(FFDHE2048.as_bytes())
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
