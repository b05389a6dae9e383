use std::sync::Arc;

use netbench_protocol::ServeSite;
use netbench_tls::SignatureScheme;
use netbench_worker::{
    Accept, Parameters, SetupError, Socket, TlsStream, own_server, stapled_response,
};

use crate::{
    config::{ClientCertificates, Config, Credentials, Resumption, TicketKey},
    ffi,
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
    let (resumption, flags) = match site.tickets {
        0 => (Resumption::None, ffi::SERVER | ffi::NO_TICKETS),
        count => {
            let key = TicketKey::new()?;
            let flags = ffi::SERVER | ffi::NO_AUTO_SEND_TICKET;
            (Resumption::Tickets { key, count }, flags)
        }
    };
    let signatures = SignatureScheme::OFFERED.to_vec();
    let parameters = Parameters::of_site(site, has_suite, has_group, signatures);
    let config = Config {
        flags,
        credentials,
        priority: Priority::exact(&parameters)?,
        versions: site.versions.clone(),
        alpn: site.alpn.clone(),
        max_record_bytes: None,
        resumption,
        client_certificates: ClientCertificates::NotAsked,
    };
    let config = Arc::new(config);
    Ok(own_server(move |stream| {
        let session = Session::new(&config, Socket::new(stream), User::default())?;
        Ok(TlsStream::new(session))
    }))
}
