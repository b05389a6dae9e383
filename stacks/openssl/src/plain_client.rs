//! A client through tokio-openssl, without hyper-openssl.

use std::{
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
};

use http::Uri;
use netbench_libssl::{Side, for_each_connection, verified_context};
use netbench_tls::{Negotiated, Profile};
use netbench_worker::{
    BoxFuture, ClientSetup, Fetch, FetchError, PlainClient, SetupError, TokioWire, plain_client,
};
use openssl::{
    error::ErrorStack,
    ssl::{ConnectConfiguration, SslConnector, SslSession, SslSessionCacheMode, SslVersion},
};
use tokio_openssl::SslStream;

use crate::{OpenSsl, negotiated::negotiated};

/// Parses the roots and makes OpenSSL's context, which keeps the last session.
pub(crate) fn connector(setup: &ClientSetup<'_>) -> Result<Box<dyn Fetch>, SetupError> {
    let mut ssl = verified_context::<OpenSsl>(setup)?;
    let last = Last::default();
    ssl.set_session_cache_mode(SslSessionCacheMode::CLIENT);
    let to = last.clone();
    ssl.set_new_session_callback(move |_, session| to.keep(session));
    let client = Client {
        ssl: ssl.build(),
        last,
        profile: setup.settings.profile,
    };
    Ok(plain_client(client, setup.tcp(), setup))
}

/// The last session. A client of netbench has one site.
#[derive(Clone, Default)]
struct Last(Arc<Mutex<Option<SslSession>>>);

impl Last {
    fn keep(&self, session: SslSession) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(session);
    }

    /// Returns the session to resume. A ticket of TLS 1.3 is used once (RFC 8446 appendix C.4), as by hyper-openssl.
    fn next(&self) -> Option<SslSession> {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if last.as_ref()?.protocol_version() == SslVersion::TLS1_3 {
            return last.take();
        }
        last.clone()
    }
}

#[derive(Clone)]
struct Client {
    ssl: SslConnector,
    last: Last,
    profile: Profile,
}

impl Client {
    fn configured(&self, uri: &Uri) -> Result<ConnectConfiguration, ErrorStack> {
        let mut config = self.ssl.configure()?;
        for_each_connection(self.profile)(&mut config, uri)?;
        if let Some(session) = self.last.next() {
            // SAFETY: the session is of a connection with the same context.
            unsafe { config.set_session(&session)? };
        }
        Ok(config)
    }
}

impl PlainClient for Client {
    type Stream = SslStream<TokioWire>;

    fn handshake(
        &self,
        uri: &Uri,
        wire: TokioWire,
    ) -> BoxFuture<'static, Result<Self::Stream, FetchError>> {
        let host = uri.host().unwrap_or_default();
        let ssl = self
            .configured(uri)
            .and_then(|config| config.into_ssl(host));
        Box::pin(async move {
            let mut stream = SslStream::new(ssl?, wire)?;
            Pin::new(&mut stream).connect().await?;
            Ok(stream)
        })
    }

    fn alpn(stream: &Self::Stream) -> Option<&[u8]> {
        stream.ssl().selected_alpn_protocol()
    }

    fn negotiated(stream: &Self::Stream) -> Negotiated {
        negotiated(stream.ssl(), Side::Client)
    }
}
