//! The stream of a client that may send its request before the end of the handshake.

use std::{
    io::{self, IoSlice},
    pin::Pin,
    task::{Context, Poll},
};

use netbench_tls::{EarlyDataStatus, Negotiated};
use netbench_worker::{Probe, TokioWire};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_rustls::client::TlsStream;

use crate::names;

/// tokio-rustls' stream, which marks the end of a handshake that contains the request.
pub(crate) struct ClientStream {
    tls: TlsStream<TokioWire>,
    probe: Probe,
    is_early: bool,
    /// Whether the end of such a handshake is still to be marked.
    is_unfinished: bool,
    alpn: Option<Vec<u8>>,
}

impl ClientStream {
    /// Wraps a stream. One without a handshake sends the request as early data, in the protocol of the session, which
    /// `session_alpn` is: RFC 8446 section 4.2.10 requires the same.
    pub(crate) fn new(
        tls: TlsStream<TokioWire>,
        probe: &Probe,
        session_alpn: Option<Vec<u8>>,
    ) -> Self {
        let (_, connection) = tls.get_ref();
        let is_early = connection.is_handshaking();
        if is_early {
            probe.requests_early();
        }
        Self {
            alpn: match is_early {
                true => session_alpn,
                false => connection.alpn_protocol().map(<[u8]>::to_vec),
            },
            probe: probe.clone(),
            is_early,
            is_unfinished: is_early,
            tls,
        }
    }

    /// Returns the protocol that the client speaks.
    pub(crate) fn alpn(&self) -> Option<&[u8]> {
        self.alpn.as_deref()
    }

    /// Returns the negotiated parameters, once the handshake is done.
    pub(crate) fn negotiated(&self) -> Negotiated {
        let (_, connection) = self.tls.get_ref();
        // rustls has one kind of resumed handshake, with a HelloRetryRequest or without.
        let status = match (
            connection.is_early_data_accepted(),
            self.probe.was_retried(),
        ) {
            (true, _) => EarlyDataStatus::Accepted,
            (false, false) => EarlyDataStatus::Rejected,
            (false, true) => EarlyDataStatus::Retried,
        };
        Negotiated {
            early_data: self.is_early.then_some(status),
            ..names::negotiated(connection)
        }
    }

    /// Polls the stream, and marks the end of the handshake if it has come.
    fn polled<T>(&mut self, poll: impl FnOnce(Pin<&mut TlsStream<TokioWire>>) -> T) -> T {
        let result = poll(Pin::new(&mut self.tls));
        if self.is_unfinished && !self.tls.get_ref().1.is_handshaking() {
            self.is_unfinished = false;
            self.probe.agreed(|| self.negotiated());
        }
        result
    }
}

impl AsyncRead for ClientStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.polled(|tls| tls.poll_read(cx, buffer))
    }
}

impl AsyncWrite for ClientStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.polled(|tls| tls.poll_write(cx, bytes))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.polled(|tls| tls.poll_write_vectored(cx, slices))
    }

    fn is_write_vectored(&self) -> bool {
        self.tls.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.polled(|tls| tls.poll_flush(cx))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.polled(|tls| tls.poll_shutdown(cx))
    }
}
