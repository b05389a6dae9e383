use std::{
    error::Error,
    future::poll_fn,
    io,
    task::{Context, Poll},
};

use http::Uri;
use hyper_util::{client::legacy::connect::Connection, rt::TokioIo};
use netbench_tls::Negotiated;
use tokio::io::{AsyncRead, AsyncWrite};
use tower_service::Service;

use crate::{AcceptError, Accepted, BoxFuture, ClientSetup, Fetch, TimedTcp, Wire};

/// A byte stream inside TLS that performs its handshake.
pub trait HandshakeStream: AsyncRead + AsyncWrite + Unpin + Send + 'static {
    /// Continues the handshake.
    fn poll_handshake(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>>;

    /// Returns the negotiated parameters, once the handshake is done.
    fn negotiated(&self) -> Negotiated;
}

/// A client's configuration of a library for which no crate has a connector for hyper.
pub trait OwnClient: Clone + Send + Sync + 'static {
    /// The stream inside TLS.
    type Stream: HandshakeStream + Connection;

    /// Creates the session of a new connection with `host`, which is a name or an address without brackets.
    ///
    /// # Errors
    /// A name that the library does not accept, or another error of the library.
    fn begin(
        &self,
        host: &str,
        wire: TokioIo<Wire>,
    ) -> Result<Self::Stream, Box<dyn Error + Send + Sync>>;
}

/// Makes a client of hyper whose connections begin with `client`.
pub fn own_client(client: impl OwnClient, setup: &ClientSetup<'_>) -> Box<dyn Fetch> {
    let connector = Connector {
        tcp: setup.tcp(),
        client,
    };
    Box::new(setup.hyper_client(connector, |stream| stream.inner().negotiated()))
}

/// Performs the handshake of a server's new session.
///
/// # Errors
/// The session could not be created, or its handshake has failed.
pub async fn accepted<S: HandshakeStream>(
    begun: Result<S, impl Into<AcceptError>>,
) -> Result<Accepted, AcceptError> {
    let mut stream = begun.map_err(Into::into)?;
    poll_fn(|cx| stream.poll_handshake(cx)).await?;
    let negotiated = stream.negotiated();
    Ok(Accepted::new(stream, negotiated))
}

/// A connector that makes connections and takes them through the handshake.
#[derive(Clone)]
struct Connector<C> {
    tcp: TimedTcp,
    client: C,
}

impl<C: OwnClient> Service<Uri> for Connector<C> {
    type Response = TokioIo<C::Stream>;
    type Error = Box<dyn Error + Send + Sync>;
    type Future = BoxFuture<'static, Result<Self::Response, Self::Error>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.tcp.poll_ready(cx)
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let host = uri.host().unwrap_or_default().trim_matches(['[', ']']);
        let host = host.to_owned();
        let connecting = self.tcp.call(uri);
        let client = self.client.clone();
        Box::pin(async move {
            let wire = TokioIo::new(connecting.await?);
            let mut stream = client.begin(&host, wire)?;
            poll_fn(|cx| stream.poll_handshake(cx)).await?;
            Ok(TokioIo::new(stream))
        })
    }
}
