use hyper_openssl::client::legacy::{HttpsConnector, MaybeHttpsStream};
use netbench_libssl::{Side, for_each_connection, verified_context};
use netbench_tls::Negotiated;
use netbench_worker::{ClientSetup, Fetch, SetupError, Wire, refused};

use crate::{
    OpenSsl,
    ech::{Offer, status},
    negotiated::negotiated,
};

/// Parses the roots and makes OpenSSL's context and hyper-openssl's connector.
pub(crate) fn connector(setup: &ClientSetup<'_>) -> Result<Box<dyn Fetch>, SetupError> {
    let mut ssl = verified_context::<OpenSsl>(setup)?;
    let offer = Offer::of(setup, &mut ssl)?;
    let mut https =
        HttpsConnector::with_connector(setup.tcp(), ssl).map_err(refused("connector"))?;
    let usual = for_each_connection(setup.settings.profile);
    https.set_callback(move |config, uri| {
        usual(config, uri)?;
        match &offer {
            Some(offer) => offer.set(config),
            None => Ok(()),
        }
    });
    Ok(Box::new(setup.hyper_client(https, inspect)))
}

fn inspect(stream: &MaybeHttpsStream<Wire>) -> Negotiated {
    match stream {
        MaybeHttpsStream::Http(_) => Negotiated::default(),
        MaybeHttpsStream::Https(tls) => Negotiated {
            ech: status(tls.ssl()),
            ..negotiated(tls.ssl(), Side::Client)
        },
    }
}
