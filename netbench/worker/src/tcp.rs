use std::{
    io,
    net::SocketAddr,
    task::{Context, Poll},
};

use http::Uri;
use hyper_util::client::legacy::connect::{HttpConnector, dns::Name};
use netbench_tls::Profile;
use tower_service::Service;

use crate::{BoxFuture, Observed, Probe, Wire};

/// hyper's `HttpConnector` with its phases timed, which every stack's HTTPS connector wraps.
#[derive(Debug, Clone)]
pub struct TimedTcp {
    http: HttpConnector<Resolver>,
    probe: Probe,
    observed: Option<Observed>,
}

impl TimedTcp {
    /// Creates a connector that reports to `probe`, with the settings of `profile`.
    pub fn new(profile: Profile, probe: &Probe) -> Self {
        let mut http = HttpConnector::new_with_resolver(Resolver {
            probe: probe.clone(),
        });
        http.enforce_http(false);
        // Servo leaves Nagle's algorithm on.
        http.set_nodelay(profile != Profile::Servo);
        http.set_happy_eyeballs_timeout(None);
        Self {
            http,
            probe: probe.clone(),
            observed: None,
        }
    }

    /// Makes connections keep the server's plaintext: [`Wire::observed`].
    #[must_use]
    pub fn observed(mut self) -> Self {
        self.observed = Some(Observed::default());
        self
    }
}

impl Service<Uri> for TimedTcp {
    type Response = Wire;
    type Error = Box<dyn std::error::Error + Send + Sync>;
    type Future = BoxFuture<'static, Result<Wire, Self::Error>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.http.poll_ready(cx).map_err(Into::into)
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let connecting = self.http.call(aimed(uri, &self.probe));
        let probe = self.probe.clone();
        let observed = self.observed.clone();
        Box::pin(async move {
            let stream = connecting.await?.into_inner();
            Ok(Wire::new(stream, probe, observed))
        })
    }
}

/// Rewrites `uri` so that `HttpConnector` connects to the address of the request: it prefers the URI's port to the
/// resolver's, and does not call the resolver for an IP address.
fn aimed(uri: Uri, probe: &Probe) -> Uri {
    let (Some(address), Some(host)) = (probe.target(), uri.host()) else {
        return uri;
    };
    let is_address = host
        .trim_matches(['[', ']'])
        .parse::<std::net::IpAddr>()
        .is_ok();
    let authority = if is_address {
        probe.needs_no_resolving();
        address.to_string()
    } else {
        format!("{host}:{}", address.port())
    };
    let aimed = Uri::builder()
        .scheme("https")
        .authority(authority)
        .path_and_query("/")
        .build();
    // Both parts come from a valid URI.
    aimed.unwrap_or(uri)
}

/// A resolver that returns the address of the request, after a query to the system if the request requires it.
#[derive(Debug, Clone)]
pub(crate) struct Resolver {
    probe: Probe,
}

impl Service<Name> for Resolver {
    type Response = std::iter::Once<SocketAddr>;
    type Error = io::Error;
    type Future = BoxFuture<'static, io::Result<Self::Response>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, name: Name) -> Self::Future {
        let probe = self.probe.clone();
        Box::pin(async move {
            let address = probe.resolve(name.as_str()).await?;
            Ok(std::iter::once(address))
        })
    }
}

#[cfg(test)]
mod tests {
    use netbench_protocol::Resolve;

    use super::*;

    #[test]
    fn the_address_of_the_request_is_the_one_that_is_connected_to() {
        const V4: &str = "127.0.0.1:5001";
        const V6: &str = "[::1]:5002";
        let cases = [
            ("https://a.test/", V4, "https://a.test:5001/"),
            ("https://a.test:8443/", V4, "https://a.test:5001/"),
            ("https://a.test/", V6, "https://a.test:5002/"),
            ("https://192.0.2.1/", V4, "https://127.0.0.1:5001/"),
            ("https://192.0.2.1:8443/", V6, "https://[::1]:5002/"),
            ("https://[2001:db8::1]/", V4, "https://127.0.0.1:5001/"),
        ];
        for (uri, address, due) in cases {
            let probe = Probe::new();
            probe.aim(address.parse().unwrap(), Resolve::Given);
            let aimed = aimed(uri.parse().unwrap(), &probe);
            assert_eq!(aimed.to_string(), due, "{uri} at {address}");
            // An address is not resolved, so `aimed` has to set the mark.
            let marked = probe.marks().resolved.is_some();
            assert_eq!(marked, !uri.contains("a.test"), "{uri}");
        }
    }

    #[test]
    fn without_an_address_a_uri_stays() {
        let uri = Uri::from_static("https://a.test:8443/");
        assert_eq!(aimed(uri.clone(), &Probe::new()), uri);
    }
}
