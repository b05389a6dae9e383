use std::{
    marker::PhantomData,
    sync::Arc,
    task::{Context, Poll},
};

use bytes::Bytes;
use http::Request;
use http_body_util::Empty;
use netbench_tls::{Alpn, Negotiated, Profile, TlsVersion};
use netbench_worker::{
    BoxFuture, ClientSetup, Fetch, FetchError, Fetched, Probe, SetupError, client_headers,
    server_view,
};
use reqwest::{
    Certificate, ClientBuilder, Url,
    dns::{Name, Resolve, Resolving},
    redirect::Policy,
    retry,
    tls::Version,
};
use tower_layer::layer_fn;
use tower_service::Service;

use crate::calls;

/// An observer of handshakes that reqwest does not expose.
pub(crate) trait Watch: 'static {
    /// A guard, during whose lifetime a connection is observed.
    type Guard: Send;

    /// Observes the connection that is about to be made.
    fn begin(probe: &Probe) -> Self::Guard;

    /// Returns the negotiated parameters of the last handshake.
    fn agreed() -> Negotiated;
}

/// Makes an observed client from reqwest's `builder`, with the run's roots and the versions and protocols of
/// `setup`.
pub(crate) fn connector<W: Watch>(
    builder: ClientBuilder,
    setup: &ClientSetup<'_>,
    roots: Vec<Certificate>,
) -> Result<Box<dyn Fetch>, SetupError> {
    let (settings, probe) = (setup.settings, setup.probe);
    if roots.is_empty() {
        return Err(SetupError::Refused("roots: none".to_owned()));
    }
    let (oldest, newest) = versions(&settings.versions)?;
    let builder = builder
        .tls_certs_merge(roots)
        .tls_version_min(oldest)
        .tls_version_max(newest);
    let builder = match &*settings.alpn {
        [Alpn::H2, Alpn::Http11] => builder,
        [Alpn::Http11] => builder.http1_only(),
        [Alpn::H2] => builder.http2_prior_knowledge(),
        other => {
            return Err(SetupError::Unsupported(format!(
                "reqwest cannot offer {other:?}"
            )));
        }
    };
    // Servo uses these settings.
    let builder = match settings.profile {
        Profile::Servo => builder.tcp_nodelay(false).http1_title_case_headers(),
        Profile::Default | Profile::Library => builder,
    };
    let watched = probe.clone();
    // Each request has one connection, to the address in it.
    let builder = builder
        .no_proxy()
        .redirect(Policy::none())
        .retry(retry::never())
        .pool_max_idle_per_host(0)
        .dns_resolver(Arc::new(Resolver(probe.clone())))
        .connector_layer(layer_fn(move |inner| TimedConnector {
            inner,
            probe: watched.clone(),
            agreed: W::agreed,
        }));
    Ok(Box::new(Client::<W> {
        client: builder
            .build()
            .map_err(|e| SetupError::refused("client", in_full(&e)))?,
        probe: probe.clone(),
        profile: settings.profile,
        watch: PhantomData,
    }))
}

/// Returns the oldest and the newest of the versions, which must have no gap.
fn versions(versions: &[TlsVersion]) -> Result<(Version, Version), SetupError> {
    match (versions.iter().min(), versions.iter().max()) {
        (Some(oldest), Some(newest)) => Ok((named(*oldest)?, named(*newest)?)),
        _ => Err(SetupError::Refused("no version to offer".to_owned())),
    }
}

fn named(version: TlsVersion) -> Result<Version, SetupError> {
    match version {
        TlsVersion::Tls12 => Ok(Version::TLS_1_2),
        TlsVersion::Tls13 => Ok(Version::TLS_1_3),
        other => Err(SetupError::Unsupported(format!(
            "the worker of reqwest offers no TLS {other}"
        ))),
    }
}

/// Returns an error with all of its sources, in one line.
pub(crate) fn in_full(error: &reqwest::Error) -> String {
    let mut words = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(error) = source {
        words.push_str(": ");
        words.push_str(&error.to_string());
        source = error.source();
    }
    words
}

/// reqwest's client, with its observer.
struct Client<W> {
    client: reqwest::Client,
    probe: Probe,
    profile: Profile,
    watch: PhantomData<fn() -> W>,
}

impl<W: Watch> Fetch for Client<W> {
    fn probe(&self) -> &Probe {
        &self.probe
    }

    fn fetch(&self, request: Request<Empty<Bytes>>) -> BoxFuture<'_, Result<Fetched, FetchError>> {
        Box::pin(async move {
            let (mut parts, _) = request.into_parts();
            for (name, value) in client_headers(self.profile) {
                parts.headers.entry(name).or_insert(value);
            }
            let url = Url::parse(&parts.uri.to_string())?;
            let mut request = reqwest::Request::new(parts.method, url);
            *request.headers_mut() = parts.headers;
            calls::begin(&self.probe);
            let _guard = W::begin(&self.probe);
            let mut response = self.client.execute(request).await?;
            self.probe.has_response();
            let status = response.status().as_u16();
            let server = server_view(response.headers());
            let mut body_bytes = 0;
            while let Some(data) = response.chunk().await? {
                body_bytes += data.len() as u64;
            }
            Ok(Fetched {
                status,
                body_bytes,
                server,
            })
        })
    }
}

/// A resolver that returns the address that the request named, after resolving the name by the system if
/// requested.
struct Resolver(Probe);

impl Resolve for Resolver {
    fn resolve(&self, name: Name) -> Resolving {
        let probe = self.0.clone();
        Box::pin(async move {
            let address = probe.resolve(name.as_str()).await?;
            let addresses: reqwest::dns::Addrs = Box::new(std::iter::once(address));
            Ok(addresses)
        })
    }
}

/// reqwest's connector, which marks the end of handshakes.
#[derive(Clone)]
struct TimedConnector<S> {
    inner: S,
    probe: Probe,
    agreed: fn() -> Negotiated,
}

impl<S, R> Service<R> for TimedConnector<S>
where
    S: Service<R>,
    S::Future: Send + 'static,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = BoxFuture<'static, Result<S::Response, S::Error>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: R) -> Self::Future {
        let connecting = self.inner.call(request);
        let (probe, agreed) = (self.probe.clone(), self.agreed);
        Box::pin(async move {
            let connection = connecting.await?;
            probe.agreed(agreed);
            Ok(connection)
        })
    }
}
