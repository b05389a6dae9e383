use hyper_openssl::client::legacy::{HttpsConnector, MaybeHttpsStream};
use netbench_libssl::{Side, for_each_connection, verified_context};
use netbench_tls::Negotiated;
use netbench_worker::{ClientSetup, Fetch, SetupError, Wire};

use crate::{OpenSsl, negotiated::negotiated};

/// Parses the roots and makes OpenSSL's context and hyper-openssl's connector.
pub(crate) fn connector(setup: &ClientSetup<'_>) -> Result<Box<dyn Fetch>, SetupError> {
    let ssl = verified_context::<OpenSsl>(setup)?;
    let mut https = HttpsConnector::with_connector(setup.tcp(), ssl)
        .map_err(|e| SetupError::refused("connector", e))?;
    https.set_callback(for_each_connection(setup.settings.profile));
    Ok(Box::new(setup.hyper_client(https, inspect)))
}

fn inspect(stream: &MaybeHttpsStream<Wire>) -> Negotiated {
    match stream {
        MaybeHttpsStream::Http(_) => Negotiated::default(),
        MaybeHttpsStream::Https(tls) => negotiated(tls.ssl(), Side::Client),
    }
}
