//! The mapping of codes of browsers' error pages, and of errors of Servo's network stack, to the classes that
//! all clients share.

use std::sync::LazyLock;

use netbench_model::{
    Alert, CertificateFault as C, Failure, FailureClass, FailureReason, FailureWord as W,
    compat::Refusal,
};

/// `WebKitWebView::load-failed-with-tls-errors`: the specific error is not reported outside of the program.
pub(crate) const WEBKIT_REFUSES: &str = "load-failed-with-tls-errors";

/// GLib's message where it refuses a certificate before WebKit is asked.
const GLIB_REFUSES: &str = "Unacceptable TLS certificate";

/// The meaning of a code.
enum Says {
    /// A fault of the certificate: the most common one that the code may stand for.
    Certificate(C),
    /// A failure of the connection or the exchange.
    Class(FailureClass, W),
    /// The handshake failed because of one side's message; the code does not identify the side that ended it.
    Handshake,
    /// The server sent an alert, or the code does not identify the side that did.
    Alert(Alert),
}

/// Returns the failure that an error page shows, and the other failures that its code may stand for.
pub fn failures(code: &str) -> (Failure, &'static [Refusal]) {
    static CERTIFICATES: LazyLock<Vec<Refusal>> =
        LazyLock::new(|| C::ALL.iter().copied().map(Refusal::Certificate).collect());
    let others: &[Refusal] = match code {
        // These codes identify no fault.
        WEBKIT_REFUSES | GLIB_REFUSES => &CERTIFICATES,
        "net::ERR_CERT_DATE_INVALID" => &[Refusal::Certificate(C::NotYetValid)],
        // This code identifies no specific fault.
        "net::ERR_CERT_INVALID" => &[
            Refusal::Certificate(C::BadCa),
            Refusal::Certificate(C::BadPurpose),
            Refusal::Certificate(C::BadEncoding),
            Refusal::Certificate(C::UnknownCriticalExtension),
            Refusal::Certificate(C::WeakOrUnknownSignature),
        ],
        // These codes are also used after an alert from the server.
        "net::ERR_SSL_VERSION_OR_CIPHER_MISMATCH"
        | "net::ERR_SSL_PROTOCOL_ERROR"
        | "net::ERR_BAD_SSL_CLIENT_AUTH_CERT"
        | "SSL_ERROR_NO_CYPHER_OVERLAP" => &[Refusal::Class(FailureClass::Alert)],
        // This code only states that there is no response, without the reason.
        "HttpError" => &[
            Refusal::Class(FailureClass::Alert),
            Refusal::Class(FailureClass::Closed),
            Refusal::Class(FailureClass::Connect),
            Refusal::Class(FailureClass::Http),
        ],
        _ => &[],
    };
    (failure(code), others)
}

/// Returns the failure that an error page shows. Its detail is the code.
pub fn failure(code: &str) -> Failure {
    let (class, reason) = match says(code) {
        Says::Certificate(fault) => (FailureClass::Certificate, fault.into()),
        Says::Class(class, word) => (class, word.into()),
        Says::Alert(alert) => (FailureClass::Alert, alert.into()),
        Says::Handshake => (FailureClass::Protocol, FailureReason::Library(name(code))),
    };
    Failure {
        class,
        reason,
        detail: code.to_owned(),
        phase: None,
        after_ns: None,
    }
}

fn says(code: &str) -> Says {
    match code.strip_prefix("net::") {
        Some(code) => chromium(code),
        None => firefox(code)
            .or_else(|| servo(code))
            .or_else(|| webkit(code)),
    }
    .unwrap_or(Says::Handshake)
}

/// Maps the codes of Chromium's `net_error_list.h`.
fn chromium(code: &str) -> Option<Says> {
    use FailureClass as F;
    let certificate = |fault| Some(Says::Certificate(fault));
    let class = |class, word| Some(Says::Class(class, word));
    match code {
        // The code stands for both ends of a certificate's validity period.
        "ERR_CERT_DATE_INVALID" => certificate(C::Expired),
        "ERR_CERT_COMMON_NAME_INVALID" => certificate(C::WrongName),
        // The code stands for any failure to find a path to a trusted root.
        "ERR_CERT_AUTHORITY_INVALID" => certificate(C::UnknownIssuer),
        "ERR_CERT_INVALID" => certificate(C::Other),
        "ERR_CERT_WEAK_KEY" | "ERR_CERT_WEAK_SIGNATURE_ALGORITHM" => {
            certificate(C::WeakOrUnknownSignature)
        }
        "ERR_CERT_REVOKED" => certificate(C::Revoked),
        "ERR_SSL_SERVER_CERT_BAD_FORMAT" => certificate(C::BadEncoding),
        "ERR_SSL_KEY_USAGE_INCOMPATIBLE" => certificate(C::BadPurpose),
        "ERR_SSL_UNRECOGNIZED_NAME_ALERT" => Some(Says::Alert(Alert(112))),
        _ if code.starts_with("ERR_CERT") => certificate(C::Other),
        "ERR_NAME_NOT_RESOLVED" | "ERR_NAME_RESOLUTION_FAILED" => class(F::Resolve, W::NotFound),
        "ERR_CONNECTION_REFUSED" => class(F::Connect, W::Refused),
        "ERR_CONNECTION_TIMED_OUT" | "ERR_TIMED_OUT" => class(F::Connect, W::ConnectTimedOut),
        "ERR_ADDRESS_UNREACHABLE" | "ERR_INTERNET_DISCONNECTED" => {
            class(F::Connect, W::Unreachable)
        }
        "ERR_CONNECTION_FAILED" => class(F::Connect, W::Failed),
        "ERR_CONNECTION_RESET" => class(F::Closed, W::Reset),
        "ERR_CONNECTION_CLOSED" | "ERR_CONNECTION_ABORTED" | "ERR_SOCKET_NOT_CONNECTED" => {
            class(F::Closed, W::Closed)
        }
        "ERR_EMPTY_RESPONSE" => class(F::Closed, W::EndOfStream),
        "ERR_CONTENT_LENGTH_MISMATCH" | "ERR_INCOMPLETE_CHUNKED_ENCODING" => {
            class(F::Http, W::Incomplete)
        }
        _ if code.starts_with("ERR_HTTP") || code.starts_with("ERR_INVALID") => {
            class(F::Http, W::NotHttp)
        }
        _ => None,
    }
}

/// Maps the codes of NSS, Mozilla's codes for certificates, and the names of Firefox's `nsresult`s.
fn firefox(code: &str) -> Option<Says> {
    use FailureClass as F;
    let certificate = |fault| Some(Says::Certificate(fault));
    let class = |class, word| Some(Says::Class(class, word));
    if let Some(name) = code
        .strip_prefix("SSL_ERROR_")
        .and_then(|name| name.strip_suffix("_ALERT"))
    {
        let name = name.strip_prefix("RX_").unwrap_or(name);
        let name = match name {
            "BAD_CERT" => "bad_certificate".to_owned(),
            "PROTOCOL_VERSION" => "protocol_version".to_owned(),
            "CERTIFICATE_UNOBTAINABLE" => "certificate_unobtainable".to_owned(),
            "UNSUPPORTED_CERT" => "unsupported_certificate".to_owned(),
            "REVOKED_CERT" => "certificate_revoked".to_owned(),
            "EXPIRED_CERT" => "certificate_expired".to_owned(),
            "CERTIFICATE_UNKNOWN" => "certificate_unknown".to_owned(),
            "INTERNAL_ERROR" => "internal_error".to_owned(),
            name => name.to_ascii_lowercase(),
        };
        let alert = Alert::registered().find(|alert| alert.name() == Some(&name));
        return alert.map(Says::Alert);
    }
    match code {
        "SEC_ERROR_EXPIRED_CERTIFICATE" | "SEC_ERROR_EXPIRED_ISSUER_CERTIFICATE" => {
            certificate(C::Expired)
        }
        "MOZILLA_PKIX_ERROR_NOT_YET_VALID_CERTIFICATE"
        | "MOZILLA_PKIX_ERROR_NOT_YET_VALID_ISSUER_CERTIFICATE" => certificate(C::NotYetValid),
        "SSL_ERROR_BAD_CERT_DOMAIN" => certificate(C::WrongName),
        "SEC_ERROR_UNKNOWN_ISSUER"
        | "SEC_ERROR_UNTRUSTED_ISSUER"
        | "SEC_ERROR_UNTRUSTED_CERT"
        | "MOZILLA_PKIX_ERROR_SELF_SIGNED_CERT" => certificate(C::UnknownIssuer),
        "SEC_ERROR_CA_CERT_INVALID" | "SEC_ERROR_PATH_LEN_CONSTRAINT_INVALID" => {
            certificate(C::BadCa)
        }
        "MOZILLA_PKIX_ERROR_CA_CERT_USED_AS_END_ENTITY" => certificate(C::CaAsLeaf),
        "SEC_ERROR_INADEQUATE_CERT_TYPE" | "SEC_ERROR_INADEQUATE_KEY_USAGE" => {
            certificate(C::BadPurpose)
        }
        "SEC_ERROR_BAD_SIGNATURE" => certificate(C::BadSignature),
        "SEC_ERROR_BAD_DER" | "SEC_ERROR_EXTENSION_VALUE_INVALID" => certificate(C::BadEncoding),
        "SEC_ERROR_UNKNOWN_CRITICAL_EXTENSION" => certificate(C::UnknownCriticalExtension),
        "SEC_ERROR_REVOKED_CERTIFICATE" => certificate(C::Revoked),
        "SEC_ERROR_CERT_SIGNATURE_ALGORITHM_DISABLED"
        | "SEC_ERROR_UNSUPPORTED_ELLIPTIC_CURVE"
        | "SEC_ERROR_UNSUPPORTED_KEYALG"
        | "MOZILLA_PKIX_ERROR_INADEQUATE_KEY_SIZE" => certificate(C::WeakOrUnknownSignature),
        "SSL_ERROR_NEXT_PROTOCOL_NO_PROTOCOL" => Some(Says::Alert(Alert(120))),
        _ if code.starts_with("SEC_ERROR") || code.starts_with("MOZILLA_PKIX") => {
            certificate(C::Other)
        }
        "NS_ERROR_UNKNOWN_HOST" | "dnsNotFound" => class(F::Resolve, W::NotFound),
        "NS_ERROR_CONNECTION_REFUSED" | "connectionFailure" => class(F::Connect, W::Refused),
        "NS_ERROR_NET_TIMEOUT" | "netTimeout" => class(F::Connect, W::ConnectTimedOut),
        "NS_ERROR_OFFLINE" | "NS_ERROR_NET_UNREACHABLE" => class(F::Connect, W::Unreachable),
        "NS_ERROR_NET_RESET" | "PR_CONNECT_RESET_ERROR" | "netReset" => class(F::Closed, W::Reset),
        "NS_ERROR_NET_INTERRUPT" | "netInterrupt" => class(F::Closed, W::Closed),
        "PR_END_OF_FILE_ERROR" => class(F::Closed, W::EndOfStream),
        "NS_ERROR_NET_PARTIAL_TRANSFER" => class(F::Http, W::Incomplete),
        _ if code.starts_with("NS_ERROR_NET_HTTP") || code.starts_with("NS_ERROR_CORRUPTED") => {
            class(F::Http, W::NotHttp)
        }
        _ => None,
    }
}

/// Maps the names of Servo's `NetworkError`.
fn servo(code: &str) -> Option<Says> {
    match code {
        // The error has the certificate, but not its fault.
        "SslValidation" => Some(Says::Certificate(C::Other)),
        "ConnectionFailure" => Some(Says::Class(FailureClass::Connect, W::Failed)),
        "DecompressionError" => Some(Says::Class(FailureClass::Http, W::NotHttp)),
        _ => None,
    }
}

/// Maps WebKitGTK's signal for a refused certificate, and the messages of its error pages, which are GLib's.
fn webkit(words: &str) -> Option<Says> {
    use FailureClass as F;
    let class = |class, word| Some(Says::Class(class, word));
    let has = |part: &str| words.contains(part);
    if let Some(alert) = words.strip_prefix("Peer sent fatal TLS alert: ") {
        return gnutls_alert(alert).map(Says::Alert);
    }
    match words {
        WEBKIT_REFUSES | GLIB_REFUSES => Some(Says::Certificate(C::Other)),
        _ if has("Duplicate extension in X.509") || has("ASN1 parser:") => {
            Some(Says::Certificate(C::BadEncoding))
        }
        _ if has("non-properly terminated") || has("TLS connection closed unexpectedly") => {
            class(F::Closed, W::EndOfStream)
        }
        _ if has("Connection refused") => class(F::Connect, W::Refused),
        _ if has("timed out") => class(F::Connect, W::ConnectTimedOut),
        _ if has("unreachable") || has("No route to host") => class(F::Connect, W::Unreachable),
        _ if has("Error resolving") || has("Name or service not known") => {
            class(F::Resolve, W::NotFound)
        }
        _ if has("Connection reset") => class(F::Closed, W::Reset),
        _ if has("Connection terminated") || has("Connection closed") => {
            class(F::Closed, W::Closed)
        }
        _ => None,
    }
}

/// Maps GnuTLS's names of the alerts (`lib/alert.c`) that occur in a handshake.
fn gnutls_alert(name: &str) -> Option<Alert> {
    const NAMES: [(&str, u8); 24] = [
        ("Close notify", 0),
        ("Unexpected message", 10),
        ("Bad record MAC", 20),
        ("Record overflow", 22),
        ("Handshake failed", 40),
        ("Certificate is bad", 42),
        ("Certificate is not supported", 43),
        ("Certificate was revoked", 44),
        ("Certificate is expired", 45),
        ("Unknown certificate", 46),
        ("Illegal parameter", 47),
        ("CA is unknown", 48),
        ("Access was denied", 49),
        ("Decode error", 50),
        ("Decrypt error", 51),
        ("Error in protocol version", 70),
        ("Insufficient security", 71),
        ("Internal error", 80),
        ("Inappropriate fallback", 86),
        ("An extension was expected but was not seen", 109),
        ("An unsupported extension was sent", 110),
        ("The server name sent was not recognized", 112),
        ("Certificate is required", 116),
        ("No supported application protocol could be negotiated", 120),
    ];
    let known = NAMES.into_iter().find(|(known, _)| *known == name);
    known.map(|(_, number)| Alert(number))
}

/// Formats a code as a library's name of an error: lowercase letters with hyphens.
fn name(code: &str) -> String {
    // GLib puts its own words before the error.
    let code = code
        .rsplit_once("TLS handshake: ")
        .map_or(code, |(_, why)| why);
    let code = code.trim_end_matches('.');
    let code = code.strip_prefix("net::").unwrap_or(code);
    let code = code.strip_prefix("ERR_").unwrap_or(code);
    code.chars()
        .map(|c| match c {
            'A'..='Z' => c.to_ascii_lowercase(),
            'a'..='z' | '0'..='9' => c,
            _ => '-',
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_for_every_certificate_stands_for_certificates_alone() {
        for code in [
            "load-failed-with-tls-errors",
            "Unacceptable TLS certificate",
        ] {
            let (failure, others) = failures(code);
            assert_eq!(Refusal::of(&failure), Refusal::Certificate(C::Other));
            assert!(others.contains(&Refusal::Certificate(C::Expired)), "{code}");
            let all = others.iter();
            assert!(
                all.clone().count() > 5
                    && all
                        .clone()
                        .all(|other| matches!(other, Refusal::Certificate(_)))
            );
        }
        let (_, others) =
            failures("Error performing TLS handshake: An illegal parameter has been received.");
        assert!(others.is_empty());
    }

    #[test]
    fn codes_become_the_words_that_all_clients_share() {
        for (code, class, reason) in [
            (
                "net::ERR_CERT_DATE_INVALID",
                FailureClass::Certificate,
                "expired",
            ),
            (
                "net::ERR_CERT_COMMON_NAME_INVALID",
                FailureClass::Certificate,
                "wrong-name",
            ),
            (
                "net::ERR_CERT_SYMANTEC_LEGACY",
                FailureClass::Certificate,
                "other",
            ),
            (
                "net::ERR_SSL_VERSION_OR_CIPHER_MISMATCH",
                FailureClass::Protocol,
                "ssl-version-or-cipher-mismatch",
            ),
            (
                "SEC_ERROR_UNKNOWN_ISSUER",
                FailureClass::Certificate,
                "unknown-issuer",
            ),
            (
                "SEC_ERROR_POLICY_VALIDATION_FAILED",
                FailureClass::Certificate,
                "other",
            ),
            (
                "SSL_ERROR_HANDSHAKE_FAILURE_ALERT",
                FailureClass::Alert,
                "handshake_failure",
            ),
            (
                "SSL_ERROR_BAD_CERT_ALERT",
                FailureClass::Alert,
                "bad_certificate",
            ),
            (
                "SSL_ERROR_RX_CERTIFICATE_REQUIRED_ALERT",
                FailureClass::Alert,
                "certificate_required",
            ),
            (
                "load-failed-with-tls-errors",
                FailureClass::Certificate,
                "other",
            ),
            ("SslValidation", FailureClass::Certificate, "other"),
            ("HttpError", FailureClass::Protocol, "httperror"),
            ("ConnectionFailure", FailureClass::Connect, "failed"),
            (
                "Could not connect to a.example: Connection refused",
                FailureClass::Connect,
                "refused",
            ),
            (
                "Peer sent fatal TLS alert: The server name sent was not recognized",
                FailureClass::Alert,
                "unrecognized_name",
            ),
            (
                "Error performing TLS handshake: Duplicate extension in X.509 certificate.",
                FailureClass::Certificate,
                "bad-encoding",
            ),
            (
                "Peer failed to perform TLS handshake: The TLS connection was non-properly terminated.",
                FailureClass::Closed,
                "end of stream",
            ),
            (
                "Error performing TLS handshake: An illegal parameter has been received.",
                FailureClass::Protocol,
                "an-illegal-parameter-has-been-received",
            ),
            (
                "SSL_ERROR_UNSUPPORTED_VERSION",
                FailureClass::Protocol,
                "ssl-error-unsupported-version",
            ),
            ("NS_ERROR_UNKNOWN_HOST", FailureClass::Resolve, "not found"),
            (
                "net::ERR_CONNECTION_REFUSED",
                FailureClass::Connect,
                "refused",
            ),
            (
                "net::ERR_EMPTY_RESPONSE",
                FailureClass::Closed,
                "end of stream",
            ),
            (
                "net::ERR_HTTP2_PROTOCOL_ERROR",
                FailureClass::Http,
                "not HTTP",
            ),
        ] {
            let failure = failure(code);
            assert_eq!(
                (failure.class, failure.reason.to_string().as_str()),
                (class, reason),
                "{code}"
            );
            assert!(failure.reason.is_of(class), "{code}");
            assert_eq!(failure.detail, code);
        }
    }
}
