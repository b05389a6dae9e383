use std::{
    io,
    net::SocketAddr,
    task::{Context, Poll},
    time::Instant,
};

use http::Uri;
use hyper_util::client::legacy::connect::{HttpConnector, dns::Name};
use netbench_model::Profile;
use netbench_protocol::Resolve;
use tower_service::Service;

use crate::{BoxFuture, Probe, Wire};

/// hyper's `HttpConnector` with its phases timed: what every stack's HTTPS connector wraps.
#[derive(Debug, Clone)]
pub struct TimedTcp {
    http: HttpConnector<Resolver>,
    probe: Probe,
}

impl TimedTcp {
    /// A connector that reports to `probe`, set up as `profile` says.
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
        }
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
        let connecting = self.http.call(uri);
        let probe = self.probe.clone();
        Box::pin(async move {
            let stream = connecting.await?.into_inner();
            probe.marks().connected = Some(Instant::now());
            Ok(Wire::new(stream, probe))
        })
    }
}

/// Gives the address that the request named, after asking the system where it is told to.
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
        let start = Instant::now();
        Box::pin(async move {
            let target = probe.marks().target;
            let (address, resolve) =
                target.ok_or_else(|| io::Error::other("no address was given"))?;
            if resolve == Resolve::System {
                drop(tokio::net::lookup_host((name.as_str(), address.port())).await?);
            }
            let end = Instant::now();
            let mut marks = probe.marks();
            marks.dns = Some(end - start);
            marks.resolved = Some(end);
            Ok(std::iter::once(address))
        })
    }
}
