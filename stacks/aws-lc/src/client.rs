use hyper_openssl::client::legacy::{HttpsConnector, MaybeHttpsStream};
use netbench_libssl::{Side, for_each_connection, verified_context};
use netbench_tls::Negotiated;
use netbench_worker::{ClientSetup, Converted, Fetch, SetupError, ToldStream, Wire, refused};

use crate::{negotiated::negotiated, stack::AwsLc};

/// Parses the roots and makes AWS-LC's context and hyper-openssl's connector, which does not report h2 to hyper where
/// its library is AWS-LC.
pub(crate) fn connector(setup: &ClientSetup<'_>) -> Result<Box<dyn Fetch>, SetupError> {
    let ssl = verified_context::<AwsLc>(setup)?;
    let mut https =
        HttpsConnector::with_connector(setup.tcp(), ssl).map_err(refused("connector"))?;
    https.set_callback(for_each_connection(setup.settings.profile));
    let with_h2 = Converted::new(https, |connected| Ok(ToldStream::new(connected?, alpn)));
    Ok(Box::new(setup.hyper_client(with_h2, inspect)))
}

fn alpn(stream: &MaybeHttpsStream<Wire>) -> Option<&[u8]> {
    match stream {
        MaybeHttpsStream::Http(_) => None,
        MaybeHttpsStream::Https(tls) => tls.ssl().selected_alpn_protocol(),
    }
}

fn inspect(stream: &ToldStream<MaybeHttpsStream<Wire>>) -> Negotiated {
    match stream.stream() {
        MaybeHttpsStream::Http(_) => Negotiated::default(),
        MaybeHttpsStream::Https(tls) => negotiated(tls.ssl(), Side::Client),
    }
}
