use std::task::{Context, Poll};

use http::Uri;
use hyper_util::rt::TokioIo;
use netbench_tls::Negotiated;
use tokio::io::{AsyncRead, AsyncWrite};
use tower_service::Service;

use crate::{BoxFuture, ClientSetup, Fetch, FetchError, TimedTcp, ToldStream, Wire};

/// A connection below TLS, as streams for tokio have it.
pub type TokioWire = TokioIo<Wire>;

/// A client of a library that is used through its stream for tokio alone, without the crate that connects the library to
/// hyper.
pub trait PlainClient: Clone + Send + Sync + 'static {
    /// The stream inside TLS.
    type Stream: AsyncRead + AsyncWrite + Unpin + Send + 'static;

    /// Performs the handshake of a new connection with the host of `uri`.
    fn handshake(
        &self,
        uri: &Uri,
        wire: TokioWire,
    ) -> BoxFuture<'static, Result<Self::Stream, FetchError>>;

    /// Returns the application protocol of a stream.
    fn alpn(stream: &Self::Stream) -> Option<&[u8]>;

    /// Returns the negotiated parameters of a stream.
    fn negotiated(stream: &Self::Stream) -> Negotiated;
}

/// Makes a client of hyper whose connections are those of `client` over `tcp`.
pub fn plain_client<C: PlainClient>(
    client: C,
    tcp: TimedTcp,
    setup: &ClientSetup<'_>,
) -> Box<dyn Fetch> {
    let connector = Connector::new(tcp, move |uri: Uri, wire| async move {
        let stream = client.handshake(&uri, wire).await?;
        Ok::<_, FetchError>(ToldStream::new(TokioIo::new(stream), |stream| {
            C::alpn(stream.inner())
        }))
    });
    Box::new(setup.hyper_client(connector, |stream| C::negotiated(stream.stream().inner())))
}

/// A connector that makes connections and performs the handshake of each by a function.
#[derive(Clone)]
pub(super) struct Connector<H> {
    tcp: TimedTcp,
    handshake: H,
}

impl<H> Connector<H> {
    pub(super) fn new(tcp: TimedTcp, handshake: H) -> Self {
        Self { tcp, handshake }
    }
}

impl<H, F, S> Service<Uri> for Connector<H>
where
    H: FnOnce(Uri, TokioWire) -> F + Clone + Send + 'static,
    F: Future<Output = Result<S, FetchError>> + Send + 'static,
{
    type Response = S;
    type Error = FetchError;
    type Future = BoxFuture<'static, Result<S, FetchError>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.tcp.poll_ready(cx)
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let connecting = self.tcp.call(uri.clone());
        let handshake = self.handshake.clone();
        Box::pin(async move {
            let wire = TokioIo::new(connecting.await?);
            handshake(uri, wire).await
        })
    }
}
