use std::{
    future::poll_fn,
    io,
    sync::Arc,
    task::{Context, Poll},
};

use http::Uri;
use hyper_util::{client::legacy::connect::Connection, rt::TokioIo};
use netbench_tls::Negotiated;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpStream,
};

use super::{TokioWire, plain_client::Connector};
use crate::{Accept, AcceptError, Accepted, BoxFuture, ClientSetup, Fetch, FetchError};

/// A byte stream inside TLS that performs its handshake.
pub trait HandshakeStream: AsyncRead + AsyncWrite + Unpin + Send + 'static {
    /// Continues the handshake.
    fn poll_handshake(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>>;

    /// Returns the negotiated parameters, once the handshake is done.
    fn negotiated(&self) -> Negotiated;
}

/// Makes a client of hyper with a library for which no crate has a connector. `begin` creates the session of a new
/// connection with a host, which is a name or an address without brackets.
pub fn own_client<B, S>(setup: &ClientSetup<'_>, begin: B) -> Box<dyn Fetch>
where
    B: Fn(&str, TokioWire) -> Result<S, FetchError> + Clone + Send + Sync + 'static,
    S: HandshakeStream + Connection,
{
    let connector = Connector::new(setup.tcp(), move |uri: Uri, wire| async move {
        let host = uri.host().unwrap_or_default().trim_matches(['[', ']']);
        let mut stream = begin(host, wire)?;
        poll_fn(|cx| stream.poll_handshake(cx)).await?;
        Ok::<_, FetchError>(TokioIo::new(stream))
    });
    Box::new(setup.hyper_client(connector, |stream| stream.inner().negotiated()))
}

/// Makes a server with such a library. `begin` creates the session of a new connection.
pub fn own_server<B, S>(begin: B) -> Arc<dyn Accept>
where
    B: Fn(TcpStream) -> Result<S, AcceptError> + Send + Sync + 'static,
    S: HandshakeStream,
{
    accepting(move |stream| {
        let begun = begin(stream);
        async { accepted(begun?).await }
    })
}

/// Makes a server that performs its handshakes by `accept`.
pub fn accepting<A, F>(accept: A) -> Arc<dyn Accept>
where
    A: Fn(TcpStream) -> F + Send + Sync + 'static,
    F: Future<Output = Result<Accepted, AcceptError>> + Send + 'static,
{
    Arc::new(Acceptor(accept))
}

/// Performs the handshake of a server's new session.
///
/// # Errors
/// The handshake has failed.
pub async fn accepted(mut stream: impl HandshakeStream) -> Result<Accepted, AcceptError> {
    poll_fn(|cx| stream.poll_handshake(cx)).await?;
    let negotiated = stream.negotiated();
    Ok(Accepted::new(stream, negotiated))
}

struct Acceptor<A>(A);

impl<A, F> Accept for Acceptor<A>
where
    A: Fn(TcpStream) -> F + Send + Sync,
    F: Future<Output = Result<Accepted, AcceptError>> + Send + 'static,
{
    fn accept(&self, stream: TcpStream) -> BoxFuture<'static, Result<Accepted, AcceptError>> {
        Box::pin((self.0)(stream))
    }
}
