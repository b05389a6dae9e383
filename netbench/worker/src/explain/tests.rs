use std::{fmt, sync::Arc};

use bytes::Bytes;
use http_body_util::Empty;
use hyper_util::rt::TokioIo;
use netbench_protocol::{ServeSite, StackDescription};
use netbench_tls::CertificateFault;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::*;
use crate::{Accept, ClientSetup, Fetch, SetupError};

/// A stack that only explains [`Own`].
struct Known;

#[derive(Debug, thiserror::Error)]
#[error("its own")]
struct Own;

impl Stack for Known {
    fn name(&self) -> &'static str {
        "known"
    }

    fn describe(&self) -> StackDescription {
        unreachable!("never asked")
    }

    fn connector(&self, _: &ClientSetup<'_>) -> Result<Box<dyn Fetch>, SetupError> {
        Err(SetupError::Refused("no".to_owned()))
    }

    fn acceptor(&self, _: &ServeSite) -> Result<Arc<dyn Accept>, SetupError> {
        Err(SetupError::Refused("no".to_owned()))
    }

    fn explain(&self, error: &(dyn Error + 'static)) -> Option<Explained> {
        let own = error.downcast_ref::<Own>()?;
        Some(Explained::new(
            FailureClass::Protocol,
            FailureReason::Library(own.to_string()),
        ))
    }
}

/// An error with a message and an optional source.
#[derive(Debug)]
struct Around(String, Option<Box<dyn Error + Send + Sync>>);

impl fmt::Display for Around {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for Around {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.1.as_deref().map(|e| e as _)
    }
}

fn around(text: &str, inner: impl Error + Send + Sync + 'static) -> Around {
    Around(text.to_owned(), Some(Box::new(inner)))
}

fn explained(phase: Phase, error: &(dyn Error + 'static)) -> (FailureClass, String) {
    let explained = explain(&Known, &Probe::new(), phase, error);
    (explained.class, explained.reason.to_string())
}

#[test]
fn io_errors_are_classed_by_kind_and_phase() {
    use FailureClass::{Closed, Connect, Protocol, Resolve, Timeout};
    use io::ErrorKind as Kind;
    let cases = [
        (Phase::Dns, Kind::Other, Resolve, "not found"),
        (Phase::Tcp, Kind::ConnectionRefused, Connect, "refused"),
        (Phase::Tcp, Kind::TimedOut, Connect, "timed out"),
        (Phase::Tls, Kind::TimedOut, Timeout, "in the kernel"),
        (Phase::Tcp, Kind::HostUnreachable, Connect, "unreachable"),
        (Phase::Tcp, Kind::NetworkUnreachable, Connect, "unreachable"),
        (Phase::Tls, Kind::ConnectionReset, Closed, "reset"),
        (Phase::Total, Kind::BrokenPipe, Closed, "closed"),
        (Phase::Tls, Kind::ConnectionAborted, Closed, "closed"),
        (Phase::Tls, Kind::UnexpectedEof, Closed, "end of stream"),
        (Phase::Tls, Kind::PermissionDenied, Protocol, "unexplained"),
    ];
    for (phase, kind, class, reason) in cases {
        let due = (class, reason.to_owned());
        let error = io::Error::from(kind);
        assert_eq!(explained(phase, &error), due, "{kind:?} in {phase}");
        let deep = around("client error", around("connect", io::Error::from(kind)));
        assert_eq!(explained(phase, &deep), due, "deep {kind:?} in {phase}");
    }
}

#[test]
fn what_nobody_knows_has_the_class_of_its_phase() {
    use FailureClass::{Connect, Http, Protocol, Resolve};
    let cases = [
        (Phase::Dns, Resolve, "failed"),
        (Phase::Tcp, Connect, "failed"),
        (Phase::Tls, Protocol, "unexplained"),
        (Phase::FirstByte, Http, "failed"),
        (Phase::Total, Http, "failed"),
    ];
    for (phase, class, reason) in cases {
        let error = Around("strange".to_owned(), None);
        assert_eq!(
            explained(phase, &error),
            (class, reason.to_owned()),
            "{phase}"
        );
    }
}

#[test]
fn the_innermost_error_that_is_known_counts() {
    let due = (FailureClass::Protocol, "its own".to_owned());
    assert_eq!(explained(Phase::Tls, &Own), due);
    let inside_io = io::Error::new(io::ErrorKind::UnexpectedEof, Own);
    assert_eq!(explained(Phase::Tls, &inside_io), due);
    assert_eq!(explained(Phase::Tls, &around("hyper", inside_io)), due);
    let twice = io::Error::other(io::Error::new(
        io::ErrorKind::ConnectionReset,
        around("x", Own),
    ));
    assert_eq!(explained(Phase::Tls, &twice), due);
}

#[test]
fn a_fault_of_the_certificate_comes_before_what_it_led_to() {
    let probe = Probe::new();
    probe.certificate_fault(CertificateFault::Expired, "over");
    let found = explain(&Known, &probe, Phase::Tls, &Own);
    assert_eq!(
        found,
        Explained::new(FailureClass::Certificate, CertificateFault::Expired)
    );
}

#[test]
fn a_chain_of_errors_is_one_line_that_repeats_nothing() {
    let inner = io::Error::other(Around("bad\nrecord \x1b[31m".to_owned(), None));
    let error = around("client error", around("tls: ", inner));
    assert_eq!(
        chain(&error),
        "bad\u{fffd}record \u{fffd}[31m: tls: : client error"
    );
    let repeated = around(
        "reset",
        around("reset by peer", io::Error::other("reset by peer")),
    );
    assert_eq!(chain(&repeated), "reset by peer");
}

#[test]
fn a_long_chain_is_cut_between_characters() {
    let long = Around("é".repeat(5000), None);
    assert_eq!(chain(&long), "é".repeat(600));
    let exact = Around("é".repeat(600), None);
    assert_eq!(chain(&exact), "é".repeat(600));
}

#[test]
fn a_very_deep_chain_is_looked_into_only_so_far() {
    let mut error = Around("0".to_owned(), None);
    for number in 1..1000 {
        error = around(&format!("<{number}>"), error);
    }
    assert_eq!(explained(Phase::Tls, &error).1, "unexplained");
    assert!(chain(&error).contains("<999>"));
}

/// Returns hyper's error for a server's answer.
fn hyper_error(answer: &'static [u8]) -> hyper::Error {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    runtime.block_on(async {
        let (near, mut far) = tokio::io::duplex(64 * 1024);
        let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(near))
            .await
            .unwrap();
        tokio::spawn(connection);
        tokio::spawn(async move {
            let mut request = [0; 4096];
            let _ = far.read(&mut request).await;
            let _ = far.write_all(answer).await;
        });
        let request = http::Request::get("/").body(Empty::<Bytes>::new()).unwrap();
        sender.send_request(request).await.unwrap_err()
    })
}

#[test]
fn answers_that_are_not_http_or_not_complete_are_told_apart() {
    let cases: [(&[u8], &str); 4] = [
        (b"", "incomplete"),
        (b"HTTP/1.1 200 OK\r\nx: ", "incomplete"),
        (b"\x1b[31mnot a response\r\n\r\n", "not HTTP"),
        (b"\x16\x03\x03\x00\x02\x02\x28", "not HTTP"),
    ];
    for (answer, reason) in cases {
        let error = around("client error", hyper_error(answer));
        let due = (FailureClass::Http, reason.to_owned());
        assert_eq!(explained(Phase::FirstByte, &error), due, "{error:?}");
    }
}

#[test]
fn errors_of_openssl_name_files_without_their_folders() {
    let error = "error:0A00045C:SSL routines:f:alert:../../.cargo/x-1.2/openssl/ssl/record.c:918:SSL alert number 116";
    assert_eq!(
        without_folders(error),
        "error:0A00045C:SSL routines:f:alert:record.c:918:SSL alert number 116"
    );
    let other = "see https://example.com/a.b: no";
    assert_eq!(without_folders(other), other);
}
