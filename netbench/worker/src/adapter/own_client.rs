use std::{future::poll_fn, sync::Arc};

use http::Uri;
use hyper_util::rt::TokioIo;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpStream,
};

use super::{Socket, SocketSession, TokioWire, plain_client::Connector, tls_stream::TlsStream};
use crate::{Accept, AcceptError, Accepted, BoxFuture, ClientSetup, Fetch, FetchError};

/// Makes a client of hyper with a library for which no crate has a connector. `begin` creates the session of a new
/// connection with a host, which is a name or an address without brackets.
pub fn own_client<B, S>(setup: &ClientSetup<'_>, begin: B) -> Box<dyn Fetch>
where
    B: Fn(&str, Socket<TokioWire>) -> Result<S, FetchError> + Clone + Send + Sync + 'static,
    S: SocketSession<Transport = Socket<TokioWire>> + Unpin + Send + 'static,
{
    let connector = Connector::new(setup.tcp(), move |uri: Uri, wire| async move {
        let host = uri.host().unwrap_or_default().trim_matches(['[', ']']);
        let mut stream = TlsStream::new(begin(host, Socket::new(wire))?);
        poll_fn(|cx| stream.poll_handshake(cx)).await?;
        Ok::<_, FetchError>(TokioIo::new(stream))
    });
    Box::new(setup.hyper_client(connector, |stream| stream.inner().negotiated()))
}

/// Makes a server with such a library. `begin` creates the session of a new connection.
pub fn own_server<B, S>(begin: B) -> Arc<dyn Accept>
where
    B: Fn(Socket<TcpStream>) -> Result<S, AcceptError> + Send + Sync + 'static,
    S: SocketSession<Transport = Socket<TcpStream>> + Unpin + Send + 'static,
{
    accepting(move |stream| {
        let begun = begin(Socket::new(stream));
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
pub async fn accepted<S, W>(session: S) -> Result<Accepted, AcceptError>
where
    S: SocketSession<Transport = Socket<W>> + Unpin + Send + 'static,
    W: AsyncRead + AsyncWrite + Unpin,
{
    let mut stream = TlsStream::new(session);
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
