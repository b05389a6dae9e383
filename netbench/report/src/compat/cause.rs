//! The cause of a client's refusal, for a reader who does not know the words that all clients share.

use netbench_model::{
    CertificateFault, FailureClass,
    compat::{CompatOutcome, Refusal},
};

/// Returns the cause of a refusal: the fault of the certificate, the server's alert, or else the library's own words.
pub(super) fn cause(outcome: &CompatOutcome) -> String {
    let CompatOutcome::Rejected {
        reason,
        library,
        detail,
        http_status,
        ..
    } = outcome
    else {
        return outcome.to_string();
    };
    if let Some(status) = http_status {
        return format!("status {status}");
    }
    let words = own_words(detail);
    match reason {
        Refusal::Certificate(CertificateFault::Other) if words.is_empty() => library.clone(),
        Refusal::Certificate(CertificateFault::Other) => format!("\"{words}\""),
        Refusal::Class(FailureClass::Alert) if library != reason.name() => {
            format!("{reason} {library}")
        }
        Refusal::Class(class) if *class != FailureClass::Alert && !words.is_empty() => {
            format!("{reason}, \"{words}\"")
        }
        Refusal::Certificate(fault) if library != reason.name() => {
            format!("{} ({library})", in_words(*fault))
        }
        Refusal::Certificate(fault) => in_words(*fault).to_owned(),
        Refusal::Class(_) => reason.to_string(),
    }
}

fn in_words(fault: CertificateFault) -> &'static str {
    match fault {
        CertificateFault::BadEncoding => "the certificate cannot be read",
        CertificateFault::BadSignature => "a signature is wrong",
        CertificateFault::NotYetValid => "the certificate is not valid yet",
        CertificateFault::Expired => "the certificate has expired",
        CertificateFault::Revoked => "the certificate is revoked",
        CertificateFault::UnknownIssuer => "no path leads to a trusted root",
        CertificateFault::BadCa => "an issuer may not issue certificates",
        CertificateFault::CaAsLeaf => "the server's certificate is that of a CA",
        CertificateFault::BadPurpose => "the certificate is for another purpose",
        CertificateFault::WrongName => "the certificate is for another name",
        CertificateFault::UnknownCriticalExtension => {
            "the client does not know a critical extension"
        }
        CertificateFault::WeakOrUnknownSignature => {
            "a key or signature is too weak, or its algorithm is unknown"
        }
        CertificateFault::NonePresented => "the server sent no certificate",
        CertificateFault::Other => "another fault of the certificate",
    }
}

/// Beginnings of those parts of an error that name its place, not its cause. The parts after them repeat the cause.
const WHERE: [&str; 5] = [
    "client error (",
    "connection error",
    "error reading ",
    "error:",
    "https://",
];

/// Returns the part of a library's sentence that names the cause.
fn own_words(detail: &str) -> String {
    let causes: Vec<&str> = detail
        .split(": ")
        .take_while(|part| !WHERE.iter().any(|place| part.starts_with(place)))
        .filter(|part| *part != "invalid peer certificate")
        .collect();
    let words = if causes.is_empty() {
        // OpenSSL's queue of errors: error:NUMBER:LIBRARY:FUNCTION:REASON:FILE:LINE.
        let queued = detail.strip_prefix("error:");
        let queued = queued.and_then(|queue| queue.split(':').nth(3));
        queued.unwrap_or(detail).to_owned()
    } else {
        causes.join(": ")
    };
    // rustls wraps errors of webpki for which it has no variant.
    match words.split_once("Other(OtherError(") {
        Some((before, inner)) => format!("{before}{}", inner.trim_end_matches(')')),
        None => words,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sentences as the workers gave them.
    #[test]
    fn the_words_of_a_library_are_those_that_say_why() {
        for (detail, words) in [
            (
                "invalid peer certificate: Other(OtherError(MaximumPathDepthExceeded)): client error (Connect)",
                "MaximumPathDepthExceeded",
            ),
            (
                "client certificate: invalid peer certificate: Other(OtherError(UnsupportedCertVersion))",
                "client certificate: UnsupportedCertVersion",
            ),
            (
                "path length constraint exceeded: error:0A000086:SSL routines:f:certificate verify failed:c.c:2124:: x",
                "path length constraint exceeded",
            ),
            (
                "error:0A000152:SSL routines:final_renegotiate:unsafe legacy renegotiation disabled:extensions.c:922:",
                "unsafe legacy renegotiation disabled",
            ),
            (
                "peer closed connection without sending TLS close_notify: https://docs.rs/x: error reading a body from connection",
                "peer closed connection without sending TLS close_notify",
            ),
            (
                "client certificate: tls: failed to parse private key",
                "client certificate: tls: failed to parse private key",
            ),
            (
                "local error: tls: no renegotiation",
                "local error: tls: no renegotiation",
            ),
            ("client error (Connect)", "client error (Connect)"),
            ("", ""),
        ] {
            assert_eq!(own_words(detail), words, "{detail}");
        }
    }
}
