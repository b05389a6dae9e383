use hyper_openssl::client::legacy::{HttpsConnector, MaybeHttpsStream};
use netbench_libssl::{Side, for_each_connection, verified_context};
use netbench_protocol::ClientIdentity;
use netbench_tls::{ClientSettings, Negotiated};
use netbench_worker::{Fetch, HyperClient, Probe, SetupError, TimedTcp, Wire};

use crate::{OpenSsl, negotiated::negotiated};

/// Parses the roots and makes OpenSSL's context and hyper-openssl's connector.
pub(crate) fn connector(
    settings: &ClientSettings,
    roots_pem: &str,
    identity: Option<&ClientIdentity>,
    probe: &Probe,
) -> Result<Box<dyn Fetch>, SetupError> {
    let ssl = verified_context::<OpenSsl>(settings, roots_pem, identity, probe)?;
    let tcp = TimedTcp::new(settings.profile, probe);
    let mut https = HttpsConnector::with_connector(tcp, ssl)
        .map_err(|e| SetupError::refused("connector", e))?;
    https.set_callback(for_each_connection(settings.profile));
    Ok(Box::new(HyperClient::new(
        https,
        settings.profile,
        probe,
        inspect,
    )))
}

fn inspect(stream: &MaybeHttpsStream<Wire>) -> Negotiated {
    match stream {
        MaybeHttpsStream::Http(_) => Negotiated::default(),
        MaybeHttpsStream::Https(tls) => negotiated(tls.ssl(), Side::Client),
    }
}
