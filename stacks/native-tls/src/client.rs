use bytes::Bytes;
use http::Request;
use http_body_util::Empty;
use hyper_tls::{HttpsConnector, MaybeHttpsStream};
use native_tls::{Certificate, Protocol, TlsConnector};
use netbench_stack_openssl::{
    native_tls::only_own_settings,
    watch::{self, Watch},
};
use netbench_tls::{ClientSettings, Negotiated, TlsVersion};
use netbench_worker::{
    BoxFuture, ClientSetup, Fetch, FetchError, Fetched, Probe, SetupError, Wire, refused,
};

/// Parses the roots and makes native-tls' and hyper-tls' connectors.
pub(crate) fn connector(setup: &ClientSetup<'_>) -> Result<Box<dyn Fetch>, SetupError> {
    let settings = setup.settings;
    only_own_settings(settings)?;
    watch::contexts()?;
    let tls = tls(settings, setup.roots_pem)?;
    let https = HttpsConnector::from((setup.tcp(), tls.into()));
    Ok(Box::new(Watched(setup.hyper_client(https, inspect))))
}

fn tls(settings: &ClientSettings, roots_pem: &str) -> Result<TlsConnector, SetupError> {
    let (oldest, newest) = versions(&settings.versions)?;
    let alpn: Vec<&str> = settings.alpn.iter().map(|alpn| alpn.name()).collect();
    let mut builder = TlsConnector::builder();
    builder
        .min_protocol_version(Some(oldest))
        .max_protocol_version(Some(newest))
        .request_alpns(&alpn)
        // Only the run's roots are used.
        .disable_built_in_roots(true);
    let roots = Certificate::stack_from_pem(roots_pem.as_bytes());
    let roots = roots.map_err(refused("roots"))?;
    if roots.is_empty() {
        return Err(SetupError::Refused("roots: none".to_owned()));
    }
    for root in roots {
        builder.add_root_certificate(root);
    }
    builder.build().map_err(refused("connector"))
}

/// Returns the oldest and the newest of the versions, which must have no gap.
fn versions(versions: &[TlsVersion]) -> Result<(Protocol, Protocol), SetupError> {
    match (versions.iter().min(), versions.iter().max()) {
        (Some(oldest), Some(newest)) => Ok((named(*oldest)?, named(*newest)?)),
        _ => Err(SetupError::Refused("no version to offer".to_owned())),
    }
}

fn named(version: TlsVersion) -> Result<Protocol, SetupError> {
    match version {
        TlsVersion::Tls12 => Ok(Protocol::Tlsv12),
        TlsVersion::Tls13 => Ok(Protocol::Tlsv13),
        other => Err(SetupError::Unsupported(format!(
            "the worker of native-tls offers no TLS {other}"
        ))),
    }
}

fn inspect(stream: &MaybeHttpsStream<Wire>) -> Negotiated {
    match stream {
        MaybeHttpsStream::Http(_) => Negotiated::default(),
        // SAFETY: the stream owns the session, and is alive.
        MaybeHttpsStream::Https(_) => unsafe { watch::agreed() },
    }
}

/// hyper's client over hyper-tls' connector, watched.
struct Watched<F>(F);

impl<F: Fetch + Sync> Fetch for Watched<F> {
    fn probe(&self) -> &Probe {
        self.0.probe()
    }

    fn fetch(&self, request: Request<Empty<Bytes>>) -> BoxFuture<'_, Result<Fetched, FetchError>> {
        Box::pin(async move {
            let _watch = Watch::begin(self.0.probe());
            self.0.fetch(request).await
        })
    }
}
