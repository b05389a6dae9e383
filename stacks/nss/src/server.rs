use std::sync::Arc;

use netbench_protocol::ServeSite;
use netbench_tls::{
    Authentication, CipherSuite, CipherSuiteFacts, Group, KeyExchange, SignatureScheme, TlsVersion,
};
use netbench_worker::{
    Accept, AcceptError, Accepted, BoxFuture, SetupError, Socket, TlsStream, accepted, refused,
    stapled_response, supported,
};
use tokio::net::TcpStream;

use crate::{
    certificates::Identity,
    config::{Config, Kept},
    library::library,
    session::{Session, User},
    settings::{FFDHE2048, Settings, has_group, has_scheme, has_suite},
    verify::KeyUsage,
};

/// Makes NSS' settings for one site.
pub(crate) fn acceptor(site: &ServeSite) -> Result<Arc<dyn Accept>, SetupError> {
    library().map_err(refused("NSS"))?;
    let identity = Identity::of_pem(&site.chain_pem, &site.key_pem)?;
    let staple = stapled_response(site)?;
    let kept = match site.tickets {
        0 => Kept::Nothing,
        count => Kept::Tickets(count),
    };
    let (suites, groups) = of_site(site, &identity)?;
    let config = Config::server(identity, staple.as_deref(), &kept)?;
    Settings {
        versions: &site.versions,
        suites: &suites,
        groups: &groups,
        signatures: &supported(SignatureScheme::OFFERED, has_scheme),
    }
    .set(config.model())?;
    config.set_alpn(&site.alpn)?;
    Ok(Arc::new(NssAcceptor(Arc::new(config))))
}

/// Returns the suites and groups of a site. Where it has no setting, these are all that clients of the lab
/// may offer and the library supports.
fn of_site(
    site: &ServeSite,
    identity: &Identity,
) -> Result<(Vec<CipherSuite>, Vec<Group>), SetupError> {
    let mut groups = match site.groups.as_slice() {
        [] => supported(Group::OFFERED, has_group),
        own => own.to_vec(),
    };
    let suites = match site.suites.as_slice() {
        [] => supported(CipherSuite::OFFERED, has_suite),
        own => own.to_vec(),
    };
    if let Some(curve) = identity.leaf().curve()
        && !groups.contains(&curve)
        && site.versions.contains(&TlsVersion::Tls12)
        && has(&suites, |suite| {
            suite.authentication == Authentication::Ecdsa
        })
    {
        return Err(SetupError::Unsupported(format!(
            "a server with NSS wants the curve of its certificate among its groups in TLS 1.2: {curve}"
        )));
    }
    if has(&suites, |suite| suite.key_exchange == KeyExchange::Dhe) {
        groups.push(FFDHE2048);
    }
    Ok((suites, groups))
}

fn has(suites: &[CipherSuite], is: fn(&CipherSuiteFacts) -> bool) -> bool {
    suites.iter().filter_map(|suite| suite.facts()).any(is)
}

struct NssAcceptor(Arc<Config>);

impl Accept for NssAcceptor {
    fn accept(&self, stream: TcpStream) -> BoxFuture<'static, Result<Accepted, AcceptError>> {
        let user = User {
            host: None,
            probe: None,
            tickets: None,
            key_usage: KeyUsage::OfLibrary,
        };
        let session = Session::new(&self.0, Socket::new(stream), user);
        Box::pin(accepted(session.map(TlsStream::new)))
    }
}
