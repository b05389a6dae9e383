use bytes::Bytes;
use http::{
    HeaderMap, HeaderValue, Request,
    header::{self, HeaderName},
};
use http_body_util::{BodyExt, Empty};
use hyper_util::{
    client::legacy::{Client, connect::Connect},
    rt::TokioExecutor,
};
use netbench_protocol::SERVER_VIEW_HEADER;
use netbench_tls::{Profile, ServerView};

use crate::{BoxFuture, Fetch, FetchError, Fetched, Probe};

/// hyper's pooling client over a stack's HTTPS connector, as browsers and libraries use it, except that every request
/// makes a separate connection.
pub(crate) struct HyperClient<C> {
    client: Client<C, Empty<Bytes>>,
    probe: Probe,
    profile: Profile,
}

impl<C: Connect + Clone> HyperClient<C> {
    /// Wraps `connector`.
    pub(crate) fn new(connector: C, profile: Profile, probe: &Probe) -> Self {
        let client = Client::builder(TokioExecutor::new())
            .pool_max_idle_per_host(0)
            .retry_canceled_requests(false)
            .http1_title_case_headers(profile == Profile::Servo)
            .build(connector);
        Self {
            client,
            probe: probe.clone(),
            profile,
        }
    }
}

impl<C: Connect + Clone + Send + Sync + 'static> Fetch for HyperClient<C> {
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
