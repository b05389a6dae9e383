use std::{
    error::Error,
    io,
    pin::Pin,
    task::{Context, Poll},
};

use http::Uri;
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_openssl::client::legacy::{HttpsConnector, MaybeHttpsStream};
use hyper_util::client::legacy::connect::{Connected, Connection};
use netbench_libssl::{Side, for_each_connection, verified_context};
use netbench_tls::Negotiated;
use netbench_worker::{BoxFuture, ClientSetup, Fetch, SetupError, TimedTcp, Wire};
use tower_service::Service;

use crate::{negotiated::negotiated, stack::AwsLc};

/// Parses the roots and makes AWS-LC's context and hyper-openssl's connector.
pub(crate) fn connector(setup: &ClientSetup<'_>) -> Result<Box<dyn Fetch>, SetupError> {
    let ssl = verified_context::<AwsLc>(setup)?;
    let mut https = HttpsConnector::with_connector(setup.tcp(), ssl)
        .map_err(|e| SetupError::refused("connector", e))?;
    https.set_callback(for_each_connection(setup.settings.profile));
    Ok(Box::new(setup.hyper_client(WithH2(https), inspect)))
}

fn inspect(stream: &Stream) -> Negotiated {
    match &stream.0 {
        MaybeHttpsStream::Http(_) => Negotiated::default(),
        MaybeHttpsStream::Https(tls) => negotiated(tls.ssl(), Side::Client),
    }
}

/// hyper-openssl's connector, which does not report h2 to hyper where its library is AWS-LC.
#[derive(Clone)]
struct WithH2(HttpsConnector<TimedTcp>);

impl Service<Uri> for WithH2 {
    type Response = Stream;
    type Error = Box<dyn Error + Send + Sync>;
    type Future = BoxFuture<'static, Result<Stream, Self::Error>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.0.poll_ready(cx)
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let connecting = self.0.call(uri);
        Box::pin(async move { Ok(Stream(connecting.await?)) })
    }
}

struct Stream(MaybeHttpsStream<Wire>);

impl Connection for Stream {
    fn connected(&self) -> Connected {
        let connected = self.0.connected();
        match &self.0 {
            MaybeHttpsStream::Https(tls) if tls.ssl().selected_alpn_protocol() == Some(b"h2") => {
                connected.negotiated_h2()
            }
            _ => connected,
        }
    }
}

impl Read for Stream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(cx, buffer)
    }
}

impl Write for Stream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, buffer)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx)
    }

    fn is_write_vectored(&self) -> bool {
        self.0.is_write_vectored()
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffers: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write_vectored(cx, buffers)
    }
}
