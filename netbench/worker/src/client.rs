use std::{
    error::Error,
    task::{Context, Poll},
};

use bytes::Bytes;
use http::{
    HeaderMap, HeaderValue, Request, Uri,
    header::{self, HeaderName},
};
use http_body_util::{BodyExt, Empty};
use hyper::rt::{Read, Write};
use hyper_util::{
    client::legacy::{
        Client,
        connect::{Connect, Connection},
    },
    rt::TokioExecutor,
};
use netbench_protocol::SERVER_VIEW_HEADER;
use netbench_tls::{Negotiated, Profile, ServerView};
use tower_service::Service;

use crate::{BoxFuture, Fetch, FetchError, Fetched, Probe};

/// hyper's pooling client over a stack's HTTPS connector, as browsers and libraries use it, except that every request
/// makes a separate connection.
pub struct HyperClient<C: Service<Uri>> {
    client: Client<Observed<C>, Empty<Bytes>>,
    probe: Probe,
    profile: Profile,
}

impl<C> HyperClient<C>
where
    C: Service<Uri> + Clone + Send + Sync + 'static,
    C::Response: Read + Write + Connection + Unpin + Send + 'static,
    C::Error: Into<Box<dyn Error + Send + Sync>>,
    C::Future: Send + 'static,
{
    /// Wraps `connector`. `inspect` returns the negotiated parameters of a finished connection.
    pub(crate) fn new(
        connector: C,
        profile: Profile,
        probe: &Probe,
        inspect: fn(&C::Response) -> Negotiated,
    ) -> Self {
        let client = Client::builder(TokioExecutor::new())
            .pool_max_idle_per_host(0)
            .retry_canceled_requests(false)
            .http1_title_case_headers(profile == Profile::Servo)
            .build(Observed {
                connector,
                probe: probe.clone(),
                inspect,
            });
        Self {
            client,
            probe: probe.clone(),
            profile,
        }
    }
}

impl<C> Fetch for HyperClient<C>
where
    Observed<C>: Connect + Clone + Send + Sync + 'static,
    C: Service<Uri> + Send + Sync,
{
    fn probe(&self) -> &Probe {
        &self.probe
    }

    fn fetch(
        &self,
        mut request: Request<Empty<Bytes>>,
    ) -> BoxFuture<'_, Result<Fetched, FetchError>> {
        Box::pin(async move {
            for (name, value) in client_headers(self.profile) {
                request.headers_mut().entry(name).or_insert(value);
            }
            let response = self.client.request(request).await?;
            self.probe.has_response();
            let status = response.status().as_u16();
            let server = server_view(response.headers());
            let mut body = response.into_body();
            let mut body_bytes = 0;
            while let Some(frame) = body.frame().await {
                if let Some(data) = frame?.data_ref() {
                    body_bytes += data.len() as u64;
                }
            }
            Ok(Fetched {
                status,
                body_bytes,
                server,
            })
        })
    }
}

/// Parses the lab server's report on the connection from the headers of a response.
pub fn server_view(headers: &HeaderMap) -> Option<ServerView> {
    serde_json::from_slice(headers.get(SERVER_VIEW_HEADER)?.as_bytes()).ok()
}

/// Returns the headers that the client adds to a request that lacks them.
pub fn client_headers(profile: Profile) -> impl Iterator<Item = (HeaderName, HeaderValue)> {
    let fields: &[(HeaderName, &'static str)] = match profile {
        // The headers that Servo sends for a document (components/net/http_loader.rs).
        Profile::Servo => &[
            (
                header::ACCEPT,
                "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
            ),
            (header::ACCEPT_LANGUAGE, "en-US,en;q=0.5"),
            (header::ACCEPT_ENCODING, "gzip, deflate, br, zstd"),
            (
                header::USER_AGENT,
                "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Servo/1.0 Firefox/140.0",
            ),
        ],
        Profile::Default | Profile::Library => &[
            (header::ACCEPT, "*/*"),
            (
                header::USER_AGENT,
                concat!("netbench/", env!("CARGO_PKG_VERSION")),
            ),
        ],
    };
    fields
        .iter()
        .map(|(name, value)| (name.clone(), HeaderValue::from_static(value)))
}

/// A stack's connector that marks the end of its handshake, unless the request is part of it.
struct Observed<C: Service<Uri>> {
    connector: C,
    probe: Probe,
    inspect: fn(&C::Response) -> Negotiated,
}

// Not derived: a derived implementation would require the response to be Clone.
impl<C: Service<Uri> + Clone> Clone for Observed<C> {
    fn clone(&self) -> Self {
        Self {
            connector: self.connector.clone(),
            probe: self.probe.clone(),
            inspect: self.inspect,
        }
    }
}

impl<C> Service<Uri> for Observed<C>
where
    C: Service<Uri>,
    C::Response: Send + 'static,
    C::Error: Into<Box<dyn Error + Send + Sync>>,
    C::Future: Send + 'static,
{
    type Response = C::Response;
    type Error = Box<dyn Error + Send + Sync>;
    type Future = BoxFuture<'static, Result<C::Response, Self::Error>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.connector.poll_ready(cx).map_err(Into::into)
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let connecting = self.connector.call(uri);
        let probe = self.probe.clone();
        let inspect = self.inspect;
        Box::pin(async move {
            let stream = connecting.await.map_err(Into::into)?;
            if !probe.marks().requests_early {
                probe.agreed(|| inspect(&stream));
            }
            Ok(stream)
        })
    }
}
