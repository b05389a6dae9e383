use std::{
    error::Error as StdError,
    io::{self, IoSlice},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use http::Uri;
use hyper_util::{
    client::legacy::connect::{Connected, Connection},
    rt::TokioIo,
};
use netbench_tls::Negotiated;
use netbench_worker::{BoxFuture, ClientSetup, Fetch, SetupError, TimedTcp, Wire};
use rustls::ClientConfig;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
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
        return Err(SetupError::Unsupported(
            "rustls reads no PKCS#12".to_owned(),
        ));
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

/// A connector that makes connections and takes them through the handshake.
#[derive(Clone)]
struct Connector {
    tcp: TimedTcp,
    tls: TlsConnector,
}

impl Service<Uri> for Connector {
    type Response = TokioIo<Tls>;
    type Error = Box<dyn StdError + Send + Sync>;
    type Future = BoxFuture<'static, Result<TokioIo<Tls>, Self::Error>>;

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
            Ok(TokioIo::new(Tls(tls.connect(name?, wire).await?)))
        })
    }
}

/// Returns the negotiated parameters. The library reports neither the group nor whether the session was
/// resumed: the server sends both in the clear.
fn inspect(stream: &TokioIo<Tls>) -> Negotiated {
    let (wire, connection) = stream.inner().0.get_ref();
    let observed = wire.inner().observed().map(|seen| seen.negotiated());
    negotiated(connection, observed.unwrap_or_default())
}

/// tokio-rustls' stream, with hyper's trait for connections.
struct Tls(TlsStream<TokioIo<Wire>>);

impl Connection for Tls {
    fn connected(&self) -> Connected {
        let (wire, connection) = self.0.get_ref();
        let connected = wire.inner().connected();
        if connection.alpn_protocol() == Some(b"h2") {
            connected.negotiated_h2()
        } else {
            connected
        }
    }
}

impl AsyncRead for Tls {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(cx, buffer)
    }
}

impl AsyncWrite for Tls {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write_vectored(cx, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.0.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx)
    }
}
