use std::sync::Arc;

use netbench_protocol::ServeSite;
use netbench_tls::SignatureScheme;
use netbench_worker::{Accept, Parameters, SetupError, own_server, stapled_response};

use crate::{
    config::{Config, Credentials, Resumption, ticket_key},
    session::{Session, User},
    settings::{Priority, has_group, has_suite},
};

/// Makes GnuTLS' credentials and priorities for one site.
pub(crate) fn acceptor(site: &ServeSite) -> Result<Arc<dyn Accept>, SetupError> {
    let credentials = Credentials::new()?;
    credentials.identity(&site.chain_pem, &site.key_pem, None)?;
    credentials.allow_dhe()?;
    if let Some(response) = stapled_response(site)? {
        credentials.staple(&response)?;
    }
    let resumption = match site.tickets {
        0 => Resumption::None,
        count => Resumption::Tickets {
            key: ticket_key()?,
            count,
        },
    };
    let signatures = SignatureScheme::OFFERED.to_vec();
    let parameters = Parameters::of_site(site, has_suite, has_group, signatures);
    let config = Arc::new(Config {
        alpn: site.alpn.clone(),
        ..Config::server(resumption, credentials, Priority::exact(&parameters)?)
    });
    Ok(own_server(move |socket| {
        Ok(Session::new(&config, socket, User::default())?)
    }))
}
