//! Connections: TLS, the choice of the protocol, and the record of each connection.

use std::{
    convert::Infallible,
    io,
    net::Ipv4Addr,
    sync::{Arc, OnceLock},
};

use hyper::{
    body::Incoming,
    server::conn::{http1, http2},
    service::service_fn,
};
use hyper_util::rt::{TokioExecutor, TokioIo};
use netbench_model::{
    TlsVersion,
    features::{Scheme, SeenConnection},
};
use rustls::{HandshakeKind, ProtocolVersion, server::Acceptor};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpStream},
};
use tokio_rustls::LazyConfigAcceptor;

use crate::{
    cases::{Cases, Served},
    route::route,
};

/// The ports with TLS: the usual one, and that of another origin of each host.
const SECURE: [u16; 2] = [443, 8443];

/// Serves all ports until the process ends.
pub(crate) async fn serve(cases: Arc<Cases>) -> io::Result<()> {
    let mut secure = Vec::new();
    for port in SECURE {
        secure.push(TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?);
    }
    // netbench connects to this port when all ports are open.
    let plain = TcpListener::bind((Ipv4Addr::LOCALHOST, 80)).await?;
    for listener in secure {
        let cases = Arc::clone(&cases);
        tokio::spawn(async move {
            loop {
                if let Ok((stream, _)) = listener.accept().await {
                    tokio::spawn(secure_connection(Arc::clone(&cases), stream));
                }
            }
        });
    }
    loop {
        if let Ok((stream, _)) = plain.accept().await {
            tokio::spawn(plain_connection(Arc::clone(&cases), stream));
        }
    }
}

async fn plain_connection(cases: Arc<Cases>, stream: TcpStream) {
    let connection = SeenConnection {
        number: cases.next_connection(),
        scheme: Scheme::Http,
        host: String::new(),
        offered: Vec::new(),
        alpn: None,
        version: None,
        resumed: false,
        error: None,
    };
    converse(cases, stream, connection).await;
}

async fn secure_connection(cases: Arc<Cases>, stream: TcpStream) {
    let acceptor = LazyConfigAcceptor::new(Acceptor::default(), stream);
    let Ok(handshake) = acceptor.await else {
        return;
    };
    let hello = handshake.client_hello();
    let Some(name) = hello.server_name().map(str::to_owned) else {
        return;
    };
    let offered = hello.alpn().into_iter().flatten();
    let offered = offered.map(|name| String::from_utf8_lossy(name).into_owned());
    let mut connection = SeenConnection {
        number: cases.next_connection(),
        scheme: Scheme::Https,
        host: name.clone(),
        offered: offered.collect(),
        alpn: None,
        version: None,
        resumed: false,
        error: None,
    };
    let Some((host, served)) = cases.of_host(&name) else {
        return;
    };
    served.connected(&connection);
    let Some(certificates) = cases.certificates() else {
        return;
    };
    let config = match certificates.config(host, &served.case.host) {
        Ok(config) => config,
        Err(error) => return failed(&served, connection, error.to_string()),
    };
    let stream = match handshake.into_stream(config).await {
        Ok(stream) => stream,
        Err(error) => return failed(&served, connection, error.to_string()),
    };
    let (_, session) = stream.get_ref();
    connection.version = match session.protocol_version() {
        Some(ProtocolVersion::TLSv1_3) => Some(TlsVersion::Tls13),
        Some(ProtocolVersion::TLSv1_2) => Some(TlsVersion::Tls12),
        _ => None,
    };
    let alpn = session.alpn_protocol();
    connection.alpn = alpn.map(|name| String::from_utf8_lossy(name).into_owned());
    connection.resumed = session.handshake_kind() == Some(HandshakeKind::Resumed);
    served.connected(&connection);
    converse(cases, stream, connection).await;
}

fn failed(served: &Served, mut connection: SeenConnection, error: String) {
    connection.error = Some(netbench_model::sanitize(&error));
    served.connected(&connection);
}

/// Answers the requests of a connection.
async fn converse(
    cases: Arc<Cases>,
    stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
    connection: SeenConnection,
) {
    let is_h2 = connection.alpn.as_deref() == Some("h2");
    let connection = Arc::new(connection);
    let is_recorded = Arc::new(OnceLock::new());
    let service = service_fn(move |request: hyper::Request<Incoming>| {
        let (cases, connection) = (Arc::clone(&cases), Arc::clone(&connection));
        let is_recorded = Arc::clone(&is_recorded);
        async move { Ok::<_, Infallible>(route(&cases, &connection, &is_recorded, request).await) }
    });
    let io = TokioIo::new(stream);
    // A connection that the browser ends is no error: the record has what arrived.
    if is_h2 {
        let _ = http2::Builder::new(TokioExecutor::new())
            .serve_connection(io, service)
            .await;
    } else {
        let connection = http1::Builder::new().serve_connection(io, service);
        let _ = connection.with_upgrades().await;
    }
}
