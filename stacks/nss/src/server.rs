use std::sync::Arc;

use netbench_protocol::ServeSite;
use netbench_tls::{
    Authentication, CipherSuite, CipherSuiteFacts, KeyExchange, SignatureScheme, TlsVersion,
};
use netbench_worker::{
    Accept, Parameters, SetupError, own_server, refused, stapled_response, supported,
};

use crate::{
    certificates::Identity,
    config::{Config, Kept},
    library::library,
    session::{Session, User},
    settings::{FFDHE2048, has_group, has_scheme, has_suite, hold_to},
};

/// Makes NSS' settings for one site.
pub(crate) fn acceptor(site: &ServeSite) -> Result<Arc<dyn Accept>, SetupError> {
    library().map_err(refused("NSS"))?;
    let identity = Identity::of_pem(&site.chain_pem, &site.key_pem)?;
    let staple = stapled_response(site)?;
    let parameters = of_site(site, &identity)?;
    let config = Config::server(identity, staple.as_deref(), &Kept::tickets(site.tickets))?;
    hold_to(config.model(), &parameters)?;
    config.set_alpn(&site.alpn)?;
    let config = Arc::new(config);
    Ok(own_server(move |socket| {
        Ok(Session::new(&config, socket, User::default())?)
    }))
}

/// Returns the parameters of a site, with the group of suites with DHE.
fn of_site(site: &ServeSite, identity: &Identity) -> Result<Parameters, SetupError> {
    let signatures = supported(SignatureScheme::OFFERED, has_scheme);
    let mut parameters = Parameters::of_site(site, has_suite, has_group, signatures);
    let suites = &parameters.suites;
    if let Some(curve) = identity.leaf().curve()
        && !parameters.groups.contains(&curve)
        && site.versions.contains(&TlsVersion::Tls12)
        && has(suites, |suite| {
            suite.authentication == Authentication::Ecdsa
        })
    {
        return Err(SetupError::Unsupported(format!(
            "a server with NSS wants the curve of its certificate among its groups in TLS 1.2: {curve}"
        )));
    }
    if has(suites, |suite| suite.key_exchange == KeyExchange::Dhe) {
        parameters.groups.push(FFDHE2048);
    }
    Ok(parameters)
}

fn has(suites: &[CipherSuite], is: fn(&CipherSuiteFacts) -> bool) -> bool {
    suites.iter().filter_map(|suite| suite.facts()).any(is)
}
