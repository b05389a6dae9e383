use std::{
    error::Error as StdError,
    sync::Arc,
    task::{Context, Poll},
};

use http::Uri;
use hyper_util::rt::TokioIo;
use netbench_tls::Negotiated;
use netbench_worker::{BoxFuture, ClientSetup, Fetch, SetupError, TimedTcp, ToldStream, Wire};
use rustls::ClientConfig;
use tokio_rustls::{TlsConnector, client::TlsStream};
use tower_service::Service;

use crate::{connect, in_memory::negotiated, line};

/// Parses the roots and makes rustls' configuration, and a connector for hyper: hyper-rustls requires an older hyper in
/// these lines. tokio-rustls writes no early data before the handshake is done.
pub(crate) fn connector(setup: &ClientSetup<'_>) -> Result<Box<dyn Fetch>, SetupError> {
    if setup
        .identity
        .is_some_and(|identity| identity.pkcs12_base64.is_some())
    {
        return Err(SetupError::unsupported("rustls reads no PKCS#12"));
    }
    let mut config: ClientConfig = connect::client(setup)?;
    config.enable_early_data = setup.early_data;
    let alpn = setup.settings.alpn.iter();
    config.alpn_protocols = alpn.map(|it| it.name().into()).collect();
    let connector = Connector {
        tcp: setup.tcp().observed(),
        tls: TlsConnector::from(Arc::new(config)),
    };
    Ok(Box::new(setup.hyper_client(connector, inspect)))
}

type Stream = ToldStream<TokioIo<TlsStream<TokioIo<Wire>>>>;

/// A connector that makes connections and takes them through the handshake.
#[derive(Clone)]
struct Connector {
    tcp: TimedTcp,
    tls: TlsConnector,
}

impl Service<Uri> for Connector {
    type Response = Stream;
    type Error = Box<dyn StdError + Send + Sync>;
    type Future = BoxFuture<'static, Result<Stream, Self::Error>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.tcp.poll_ready(cx)
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let host = uri.host().unwrap_or_default().trim_matches(['[', ']']);
        let name = line::server_name(host);
        let connecting = self.tcp.call(uri);
        let tls = self.tls.clone();
        Box::pin(async move {
            let wire = TokioIo::new(connecting.await?);
            let stream = TokioIo::new(tls.connect(name?, wire).await?);
            Ok(ToldStream::new(stream, |stream| {
                stream.inner().get_ref().1.alpn_protocol()
            }))
        })
    }
}

/// Returns the negotiated parameters. The library reports neither the group nor whether the session was
/// resumed: the server sends both in the clear.
fn inspect(stream: &Stream) -> Negotiated {
    let (wire, connection) = stream.stream().inner().get_ref();
    let observed = wire.inner().observed().map(|seen| seen.negotiated());
    negotiated(connection, observed.unwrap_or_default())
}
