use std::{
    error::Error as StdError,
    future::poll_fn,
    sync::Arc,
    task::{Context, Poll},
};

use base64::{Engine, engine::general_purpose::STANDARD};
use http::Uri;
use hyper_util::rt::TokioIo;
use netbench_model::{ClientSettings, Negotiated, Profile};
use netbench_protocol::ClientIdentity;
use netbench_worker::{BoxFuture, Fetch, HyperClient, Probe, SetupError, TimedTcp, Wire};
use tower_service::Service;

use crate::{
    config::{ClientCertificates, Config, Credentials, Resumption},
    ffi,
    negotiated::negotiated,
    session::User,
    settings::{Priority, Settings},
    stream::{TlsStream, host_name},
    tickets::Tickets,
};

/// Parses the roots and makes GnuTLS' credentials and priorities, and a connector for hyper: no crate has
/// one.
pub(crate) fn connector(
    settings: &ClientSettings,
    roots_pem: &str,
    identity: Option<&ClientIdentity>,
    probe: &Probe,
) -> Result<Box<dyn Fetch>, SetupError> {
    let credentials = Credentials::new()?;
    credentials.trust_pem(roots_pem)?;
    credentials.verify_peers();
    if let Some(identity) = identity {
        set_identity(&credentials, identity)?;
    }
    let (priority, flags) = match settings.profile {
        Profile::Library => (Priority::of_library(&settings.versions)?, ffi::CLIENT),
        // The client sends a key share only for the first group. By default, the library sends two.
        Profile::Default | Profile::Servo => (exact(settings)?, ffi::CLIENT | ffi::KEY_SHARE_TOP),
    };
    let config = Config {
        flags,
        credentials,
        priority,
        versions: settings.versions.clone(),
        alpn: settings.alpn.clone(),
        max_record_bytes: None,
        resumption: Resumption::None,
        client_certificates: ClientCertificates::NotAsked,
    };
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

fn exact(settings: &ClientSettings) -> Result<Priority, SetupError> {
    Priority::exact(&Settings {
        versions: &settings.versions,
        suites: &settings.suites,
        groups: &settings.groups,
        signatures: &settings.signatures,
    })
}

fn set_identity(credentials: &Credentials, identity: &ClientIdentity) -> Result<(), SetupError> {
    let password = identity.password.as_deref();
    match &identity.pkcs12_base64 {
        Some(file) => {
            let file = STANDARD
                .decode(file)
                .map_err(|e| SetupError::refused("PKCS#12 file", e))?;
            credentials.identity_of_pkcs12(&file, password)
        }
        None => credentials.identity(&identity.chain_pem, &identity.key_pem, password),
    }
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
            };
            let mut stream = TlsStream::new(&config, wire, user)?;
            poll_fn(|cx| stream.poll_handshake(cx)).await?;
            Ok(TokioIo::new(stream))
        })
    }
}

fn inspect(stream: &Stream) -> Negotiated {
    negotiated(stream.inner().raw())
}
