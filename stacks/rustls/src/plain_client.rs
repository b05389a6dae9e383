//! A client through tokio-rustls, without hyper-rustls.

use std::sync::{Arc, Mutex, PoisonError};

use http::Uri;
use netbench_tls::{Alpn, Negotiated, Profile};
use netbench_worker::{
    BoxFuture, ClientSetup, Fetch, FetchError, PlainClient, Probe, SetupError, TokioWire,
    plain_client,
};
use rustls_pki_types::ServerName;
use tokio_rustls::TlsConnector;

use crate::{client::config, early_client::ClientStream, provider::Provider};

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
    config.enable_early_data = setup.early_data;
    let client = Client {
        connector: TlsConnector::from(Arc::new(config)).early_data(setup.early_data),
        probe: setup.probe.clone(),
        session_alpn: Arc::default(),
    };
    Ok(plain_client(client, setup.tcp(), setup))
}

#[derive(Clone)]
struct Client {
    connector: TlsConnector,
    probe: Probe,
    /// The protocol of the last connection, which rustls does not report of a session.
    session_alpn: Arc<Mutex<Option<Vec<u8>>>>,
}

impl PlainClient for Client {
    type Stream = ClientStream;

    fn handshake(
        &self,
        uri: &Uri,
        wire: TokioWire,
    ) -> BoxFuture<'static, Result<Self::Stream, FetchError>> {
        let host = uri.host().unwrap_or_default().trim_matches(['[', ']']);
        let name = ServerName::try_from(host).map(|name| name.to_owned());
        let client = self.clone();
        Box::pin(async move {
            let tls = client.connector.connect(name?, wire).await?;
            let session_alpn = client.session_alpn.lock();
            let mut session_alpn = session_alpn.unwrap_or_else(PoisonError::into_inner);
            let stream = ClientStream::new(tls, &client.probe, session_alpn.clone());
            *session_alpn = stream.alpn().map(<[u8]>::to_vec);
            drop(session_alpn);
            Ok(stream)
        })
    }

    fn alpn(stream: &Self::Stream) -> Option<&[u8]> {
        stream.alpn()
    }

    fn negotiated(stream: &Self::Stream) -> Negotiated {
        stream.negotiated()
    }
}
