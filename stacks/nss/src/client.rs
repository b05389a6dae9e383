use std::{
    error::Error as StdError,
    future::poll_fn,
    sync::Arc,
    task::{Context, Poll},
};

use http::Uri;
use hyper_util::rt::TokioIo;
use netbench_model::{ClientSettings, Negotiated, Profile};
use netbench_protocol::ClientIdentity;
use netbench_worker::{BoxFuture, Fetch, HyperClient, Probe, SetupError, TimedTcp, Wire};
use tower_service::Service;

use crate::{
    certificates::{Identity, Roots},
    config::{Config, Kept},
    library::{library, refused},
    negotiated::negotiated,
    session::User,
    settings::{Settings, set_versions},
    stream::{TlsStream, host_name},
    tickets::Tickets,
    verify::KeyUsage,
};

/// Parses the roots and makes NSS' settings, and a connector for hyper: no crate has one.
pub(crate) fn connector(
    settings: &ClientSettings,
    roots_pem: &str,
    identity: Option<&ClientIdentity>,
    probe: &Probe,
) -> Result<Box<dyn Fetch>, SetupError> {
    library().map_err(refused("NSS"))?;
    let roots = Roots::of_pem(roots_pem)?;
    let mut config = Config::client(roots, &Kept::Tickets(0))?;
    match settings.profile {
        Profile::Library => set_versions(config.model(), &settings.versions)?,
        Profile::Default | Profile::Servo => Settings {
            versions: &settings.versions,
            suites: &settings.suites,
            groups: &settings.groups,
            signatures: &settings.signatures,
        }
        .set(config.model())?,
    }
    config.set_alpn(&settings.alpn)?;
    if let Some(identity) = identity {
        config.set_identity(Identity::of_pem(&identity.chain_pem, &identity.key_pem)?)?;
    }
    let connector = Connector {
        tcp: TimedTcp::new(settings.profile, probe),
        config: Arc::new(config),
        tickets: Arc::default(),
        probe: probe.clone(),
    };
    Ok(Box::new(HyperClient::new(
        connector,
        settings.profile,
        probe,
        inspect,
    )))
}

type Stream = TokioIo<TlsStream<TokioIo<Wire>>>;

/// A connector that makes connections and takes them through the handshake.
#[derive(Clone)]
struct Connector {
    tcp: TimedTcp,
    config: Arc<Config>,
    tickets: Arc<Tickets>,
    probe: Probe,
}

impl Service<Uri> for Connector {
    type Response = Stream;
    type Error = Box<dyn StdError + Send + Sync>;
    type Future = BoxFuture<'static, Result<Stream, Self::Error>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.tcp.poll_ready(cx)
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let host = host_name(uri.host().unwrap_or_default());
        let connecting = self.tcp.call(uri);
        let config = Arc::clone(&self.config);
        let (tickets, probe) = (Arc::clone(&self.tickets), self.probe.clone());
        Box::pin(async move {
            let wire = TokioIo::new(connecting.await?);
            let user = User {
                host: Some(host?),
                probe: Some(probe),
                tickets: Some(tickets),
                key_usage: KeyUsage::OfLibrary,
            };
            let mut stream = TlsStream::new(&config, wire, user)?;
            poll_fn(|cx| stream.poll_handshake(cx)).await?;
            Ok(TokioIo::new(stream))
        })
    }
}

fn inspect(stream: &Stream) -> Negotiated {
    negotiated(stream.inner().fd())
}
