use std::sync::Arc;

use http::Uri;
use netbench_tls::Negotiated;
use netbench_worker::{
    BoxFuture, ClientSetup, Fetch, FetchError, PlainClient, SetupError, TokioWire, plain_client,
    refused,
};
use tokio_rustls::{TlsConnector, client::TlsStream};

use crate::{
    common::Wanted,
    in_memory::negotiated,
    line::{self, identity, server_name},
};

/// Parses the roots and makes rustls' configuration, and a connector for hyper: hyper-rustls requires an older hyper in
/// these lines. tokio-rustls writes no early data before the handshake is done.
pub(crate) fn connector(setup: &ClientSetup<'_>) -> Result<Box<dyn Fetch>, SetupError> {
    let builder = line::client(&Wanted {
        roots_pem: setup.roots_pem,
        profile: setup.settings.profile,
        parameters: setup.settings.into(),
        probe: Some(setup.probe.clone()),
    })?;
    let mut config = match setup.identity {
        None => builder.with_no_client_auth(),
        Some(pem) if pem.pkcs12_base64.is_some() => {
            return Err(SetupError::unsupported("rustls reads no PKCS#12"));
        }
        Some(pem) => {
            let (chain, key) = identity(&pem.chain_pem, &pem.key_pem)?;
            let config = builder.with_client_auth_cert(chain, key);
            config.map_err(refused("client certificate"))?
        }
    };
    config.enable_early_data = setup.early_data;
    let alpn = setup.settings.alpn.iter();
    config.alpn_protocols = alpn.map(|it| it.name().into()).collect();
    let client = Client(TlsConnector::from(Arc::new(config)));
    Ok(plain_client(client, setup.tcp().observed(), setup))
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
        let name = server_name(host);
        let tls = self.0.clone();
        Box::pin(async move { Ok(tls.connect(name?, wire).await?) })
    }

    fn alpn(stream: &Self::Stream) -> Option<&[u8]> {
        stream.get_ref().1.alpn_protocol()
    }

    /// Returns the negotiated parameters. The library reports neither the group nor whether the session was
    /// resumed: the server sends both in the clear.
    fn negotiated(stream: &Self::Stream) -> Negotiated {
        let (wire, connection) = stream.get_ref();
        let observed = wire.inner().observed().map(|seen| seen.negotiated());
        negotiated(connection, observed.unwrap_or_default())
    }
}
