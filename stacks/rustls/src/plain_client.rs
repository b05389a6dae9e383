//! A client through tokio-rustls, without hyper-rustls.

use std::sync::Arc;

use http::Uri;
use netbench_tls::{Alpn, Negotiated, Profile};
use netbench_worker::{
    BoxFuture, ClientSetup, Fetch, FetchError, PlainClient, SetupError, TokioWire, plain_client,
};
use rustls_pki_types::ServerName;
use tokio_rustls::{TlsConnector, client::TlsStream};

use crate::{client::config, names, provider::Provider};

/// Parses the roots and makes rustls' configuration and tokio-rustls' connector, which offers the protocols that
/// hyper-rustls would offer.
pub(crate) fn connector(
    provider: &dyn Provider,
    setup: &ClientSetup<'_>,
) -> Result<Box<dyn Fetch>, SetupError> {
    let mut config = config(provider, setup)?;
    let settings = setup.settings;
    config.alpn_protocols = match (settings.profile, settings.alpn.as_slice()) {
        (Profile::Library, [Alpn::Http11]) => Vec::new(),
        (_, alpn) => alpn.iter().map(|alpn| alpn.name().into()).collect(),
    };
    let connector = TlsConnector::from(Arc::new(config));
    Ok(plain_client(Client(connector), setup))
}

#[derive(Clone)]
struct Client(TlsConnector);

impl PlainClient for Client {
    type Stream = TlsStream<TokioWire>;

    fn handshake(
        &self,
        uri: &Uri,
        wire: TokioWire,
    ) -> BoxFuture<'static, Result<Self::Stream, FetchError>> {
        let host = uri.host().unwrap_or_default().trim_matches(['[', ']']);
        let name = ServerName::try_from(host).map(|name| name.to_owned());
        let connector = self.0.clone();
        Box::pin(async move { Ok(connector.connect(name?, wire).await?) })
    }

    fn alpn(stream: &Self::Stream) -> Option<&[u8]> {
        stream.get_ref().1.alpn_protocol()
    }

    fn negotiated(stream: &Self::Stream) -> Negotiated {
        let (_, connection) = stream.get_ref();
        let suite = connection.negotiated_cipher_suite();
        names::negotiated(connection, suite.map(|suite| suite.suite()))
    }
}
