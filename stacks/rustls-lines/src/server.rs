use std::{
    io::{self, IoSlice},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use netbench_protocol::ServeSite;
use netbench_worker::{
    Accept, Accepted, Observed, Parameters, SetupError, accepting, stapled_response,
};
use rustls::server::NoServerSessionStorage;
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpStream,
};
use tokio_rustls::TlsAcceptor;

use crate::{common, in_memory::negotiated, line};

/// Makes rustls' configuration for one site.
pub(crate) fn acceptor(site: &ServeSite) -> Result<Arc<dyn Accept>, SetupError> {
    let parameters = Parameters::of_site(site, common::has_suite, line::has_group, Vec::new());
    let ocsp = stapled_response(site)?.unwrap_or_default();
    let mut config = line::server(&parameters, &site.chain_pem, &site.key_pem, ocsp)?;
    config.ignore_client_order = true;
    config.alpn_protocols = site.alpn.iter().map(|it| it.name().into()).collect();
    config.send_tls13_tickets = usize::from(site.tickets);
    if site.tickets == 0 {
        config.session_storage = Arc::new(NoServerSessionStorage {});
    } else {
        config.ticketer = common::ticketer()?;
    }
    let acceptor = TlsAcceptor::from(Arc::new(config));
    Ok(accepting(move |stream| {
        let sent = Observed::default();
        let accepting = acceptor.accept(Watched { stream, sent });
        async {
            let stream = accepting.await?;
            let (watched, connection) = stream.get_ref();
            let negotiated = negotiated(connection, watched.sent.negotiated());
            Ok(Accepted::new(stream, negotiated))
        }
    }))
}

/// The socket, with the server's messages in the clear: the library reports neither the group nor whether a
/// session was resumed.
struct Watched {
    stream: TcpStream,
    sent: Observed,
}

impl AsyncRead for Watched {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl AsyncWrite for Watched {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.poll_write_vectored(cx, &[IoSlice::new(bytes)])
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let count = ready!(Pin::new(&mut self.stream).poll_write_vectored(cx, slices))?;
        let mut left = count;
        for slice in slices {
            let written = &slice[..slice.len().min(left)];
            self.sent.received(written);
            left -= written.len();
        }
        Poll::Ready(Ok(count))
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
