use std::{ffi::c_int, sync::OnceLock};

use boring::{
    error::ErrorStack,
    ex_data::Index,
    ssl::{SslConnector, SslConnectorBuilder, SslContext, SslMethod, SslRef, StatusType},
};
use foreign_types_shared::ForeignTypeRef;
use http::Uri;
use hyper_boring::{HttpsConnector, MaybeHttpsStream};
use hyper_util::rt::TokioIo;
use netbench_protocol::Ech;
use netbench_tls::{CertificateFault, ClientSettings, EchStatus, Negotiated, Profile};
use netbench_worker::{
    ClientSetup, Converted, EndpointSide, Fetch, Probe, SetupError, Wire, alpn_list, made_once,
    refused,
};

use crate::{negotiated::negotiated, settings};

/// Parses the roots and makes BoringSSL's context and hyper-boring's connector.
pub(crate) fn connector(setup: &ClientSetup<'_>) -> Result<Box<dyn Fetch>, SetupError> {
    let mut ssl = context(setup.settings)?;
    ssl.set_cert_store(settings::store(&settings::roots(setup.roots_pem)?)?);
    if let Some(identity) = setup.identity {
        settings::set_identity(&mut ssl, &identity.chain_pem, &identity.key_pem)?;
    }
    watch_verification(&mut ssl, setup.probe);
    if setup.ech.is_some() {
        watch_rejection(&mut ssl, setup.probe)?;
    }
    // hyper-boring requires the traits of tokio.
    let tcp = Converted::new(setup.tcp(), |connected| {
        Ok(TokioIo::new(TokioIo::new(connected?)))
    });
    let mut https = HttpsConnector::with_connector(tcp, ssl).map_err(refused("connector"))?;
    // As in the other stacks, the client requests a stapled response: rustls always does.
    let stapled = setup.settings.profile != Profile::Library;
    let greases = setup.ech == Some(&Ech::Grease);
    let configs = setup.ech_configs()?;
    https.set_ssl_callback(move |ssl: &mut SslRef, _: &Uri| {
        if stapled {
            ssl.set_status_type(StatusType::OCSP)?;
        }
        ssl.set_enable_ech_grease(greases);
        match &configs {
            Some(list) => ssl.set_ech_config_list(list),
            None => Ok(()),
        }
    });
    Ok(Box::new(setup.hyper_client(https, inspect)))
}

/// Makes a context with these settings, without roots so far.
///
/// The boring crate makes it load the system's roots too, as for every user. They would not be used, and as
/// the runner sets SSL_CERT_FILE and SSL_CERT_DIR to `/dev/null`, none are read.
fn context(settings: &ClientSettings) -> Result<SslConnectorBuilder, SetupError> {
    let mut ssl = SslConnector::builder(SslMethod::tls()).map_err(refused("context"))?;
    ssl.set_alpn_protos(&alpn_list(&settings.alpn))
        .map_err(refused("ALPN"))?;
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
            let fault = CertificateFault::of_x509_result(error.as_raw().into());
            probe.certificate_fault(fault, error.error_string());
        }
        good
    });
}

/// Has the context's rejections of Encrypted ClientHello recorded.
fn watch_rejection(ssl: &mut SslConnectorBuilder, probe: &Probe) -> Result<(), SetupError> {
    let index = probe_index().map_err(refused("context"))?;
    ssl.set_ex_data(index, probe.clone());
    // SAFETY: the context is live.
    unsafe { boring_sys::SSL_CTX_set_info_callback(ssl.as_ptr(), Some(watch)) };
    Ok(())
}

/// Returns the index under which a context keeps the probe of its rejections; the probe is freed with the context.
fn probe_index() -> Result<Index<SslContext, Probe>, ErrorStack> {
    static INDEX: OnceLock<Index<SslContext, Probe>> = OnceLock::new();
    made_once(&INDEX, SslContext::new_ex_index)
}

/// Records the configurations of a server that rejected: BoringSSL has them from when it sends its alert. The boring crate does
/// not know this alert.
extern "C" fn watch(ssl: *const boring_sys::SSL, mode: c_int, value: c_int) {
    /// `SSL_CB_WRITE_ALERT` of openssl/ssl.h.
    const SENDS_ALERT: c_int = 0x4008;
    const ECH_REQUIRED: c_int = 121;
    if mode != SENDS_ALERT || value & 0xff != ECH_REQUIRED {
        return;
    }
    // SAFETY: BoringSSL calls this function with a live connection, which is not changed.
    let ssl = unsafe { SslRef::from_ptr(ssl.cast_mut()) };
    let probe = probe_index().ok();
    let probe = probe.and_then(|index| ssl.ssl_context().ex_data(index));
    if let Some(probe) = probe {
        probe.ech_rejected(ssl.get_ech_retry_configs().map(<[u8]>::to_vec));
    }
}

fn inspect(stream: &MaybeHttpsStream<TokioIo<Wire>>) -> Negotiated {
    match stream {
        MaybeHttpsStream::Http(_) => Negotiated::default(),
        MaybeHttpsStream::Https(tls) => Negotiated {
            ech: tls.ssl().ech_accepted().then_some(EchStatus::Accepted),
            ..negotiated(tls.ssl(), EndpointSide::Client)
        },
    }
}
