use boring::ssl::{SslConnector, SslConnectorBuilder, SslMethod, SslRef, StatusType};
use http::Uri;
use hyper_boring::{HttpsConnector, MaybeHttpsStream};
use hyper_util::rt::TokioIo;
use netbench_tls::{ClientSettings, Negotiated, Profile};
use netbench_worker::{
    ClientSetup, Converted, EndpointSide, Fetch, Probe, SetupError, Wire, alpn_list,
};

use crate::{explain::certificate_fault, negotiated::negotiated, settings};

/// Parses the roots and makes BoringSSL's context and hyper-boring's connector.
pub(crate) fn connector(setup: &ClientSetup<'_>) -> Result<Box<dyn Fetch>, SetupError> {
    let mut ssl = context(setup.settings)?;
    ssl.set_cert_store(settings::store(&settings::roots(setup.roots_pem)?)?);
    if let Some(identity) = setup.identity {
        settings::set_identity(&mut ssl, &identity.chain_pem, &identity.key_pem)?;
    }
    watch_verification(&mut ssl, setup.probe);
    // hyper-boring requires the traits of tokio.
    let tcp = Converted::new(setup.tcp(), |connected| {
        Ok(TokioIo::new(TokioIo::new(connected?)))
    });
    let mut https = HttpsConnector::with_connector(tcp, ssl)
        .map_err(|e| SetupError::refused("connector", e))?;
    // As in the other stacks, the client requests a stapled response: rustls always does.
    if setup.settings.profile != Profile::Library {
        https.set_ssl_callback(|ssl: &mut SslRef, _: &Uri| ssl.set_status_type(StatusType::OCSP));
    }
    Ok(Box::new(setup.hyper_client(https, inspect)))
}

/// Makes a context with these settings, without roots so far.
///
/// The boring crate makes it load the system's roots too, as for every user. They would not be used, and as
/// the runner sets SSL_CERT_FILE and SSL_CERT_DIR to `/dev/null`, none are read.
fn context(settings: &ClientSettings) -> Result<SslConnectorBuilder, SetupError> {
    let mut ssl =
        SslConnector::builder(SslMethod::tls()).map_err(|e| SetupError::refused("context", e))?;
    ssl.set_alpn_protos(&alpn_list(&settings.alpn))
        .map_err(|e| SetupError::refused("ALPN", e))?;
    if settings.profile == Profile::Library {
        settings::set_versions(&mut ssl, &settings.versions)?;
    } else {
        settings::set_versions_and_suites(&mut ssl, &settings.versions, &settings.suites)?;
        settings::set_groups(&mut ssl, &settings.groups)?;
        settings::set_schemes(&mut ssl, &settings.signatures)?;
    }
    Ok(ssl)
}

/// Makes the library's call of `X509_verify_cert`, which checks the chain and the name, measured.
fn watch_verification(ssl: &mut SslConnectorBuilder, probe: &Probe) {
    let probe = probe.clone();
    ssl.set_cert_verify_callback(move |store| {
        let good = probe.verify(|| store.verify_cert().unwrap_or(false));
        if let Err(error) = store.verify_result() {
            probe.certificate_fault(certificate_fault(error), error.error_string());
        }
        good
    });
}

fn inspect(stream: &MaybeHttpsStream<TokioIo<Wire>>) -> Negotiated {
    match stream {
        MaybeHttpsStream::Http(_) => Negotiated::default(),
        MaybeHttpsStream::Https(tls) => negotiated(tls.ssl(), EndpointSide::Client),
    }
}
