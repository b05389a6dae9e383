//! The mapping of codes of browsers' error pages, and of errors of Servo's network stack, to the classes that
//! all clients share.

use std::sync::LazyLock;

use netbench_model::{
    Alert, CertificateFault as C, Failure, FailureClass, FailureReason, compat::Refusal,
};

/// `WebKitWebView::load-failed-with-tls-errors`: the specific error is not reported outside of the program.
pub(crate) const WEBKIT_REFUSES: &str = "load-failed-with-tls-errors";

/// The texts of Servo's error page where a request ended without a response, whatever the reason: before and after it was
/// sent.
const SERVO_NO_CONNECTION: &str = "Error loading page: client error (Connect)";
const SERVO_NO_RESPONSE: &str = "Error loading page: client error (SendRequest)";

/// GLib's message where it refuses a certificate before WebKit is asked.
const GLIB_REFUSES: &str = "Unacceptable TLS certificate";

/// The clients' texts and their meanings.
const TABLE: &str = include_str!("codes.tsv");

/// Returns the failure that an error page shows, and the other failures that its code may stand for.
pub fn failures(code: &str) -> (Failure, &'static [Refusal]) {
    static CERTIFICATES: LazyLock<Vec<Refusal>> =
        LazyLock::new(|| C::ALL.iter().copied().map(Refusal::Certificate).collect());
    let others: &[Refusal] = match code {
        // These codes identify no fault.
        WEBKIT_REFUSES | GLIB_REFUSES | "net::ERR_ECH_FALLBACK_CERTIFICATE_INVALID" => {
            &CERTIFICATES
        }
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
        "HttpError" | SERVO_NO_CONNECTION | SERVO_NO_RESPONSE => &[
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
    let (class, reason) = meaning("browser", code)
        .or_else(|| Some((FailureClass::Alert, firefox_alert(code)?.into())))
        // The handshake failed because of one side's message; the code does not identify the side that ended it.
        .unwrap_or_else(|| (FailureClass::Protocol, FailureReason::Library(name(code))));
    Failure::new(class, reason, code.to_owned())
}

/// Returns the meaning of a client's text, if the table has it.
pub(crate) fn meaning(client: &str, text: &str) -> Option<(FailureClass, FailureReason)> {
    let mut rows = TABLE.lines().filter_map(columns);
    let found = rows.find(|[of, pattern, ..]| *of == client && fits(pattern, text));
    let [.., class, reason] = found?;
    let mut classes = FailureClass::ALL.iter().copied();
    let class = classes.find(|known| known.name() == class)?;
    Some((class, reason.to_owned().into()))
}

/// Returns the columns of a row, or `None` for a comment.
fn columns(line: &str) -> Option<[&str; 4]> {
    let columns: Vec<&str> = line.split('\t').collect();
    columns.try_into().ok()
}

fn fits(pattern: &str, text: &str) -> bool {
    match (pattern.starts_with('*'), pattern.strip_suffix('*')) {
        (true, Some(_)) => text.contains(pattern.trim_matches('*')),
        (false, Some(start)) => text.starts_with(start),
        (_, None) => text == pattern,
    }
}

/// Returns the alert that a code of NSS names.
fn firefox_alert(code: &str) -> Option<Alert> {
    let name = code.strip_prefix("SSL_ERROR_")?.strip_suffix("_ALERT")?;
    let name = name.strip_prefix("RX_").unwrap_or(name);
    let name = name.to_ascii_lowercase();
    Alert::registered().find(|alert| alert.name() == Some(&name))
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
            "net::ERR_ECH_FALLBACK_CERTIFICATE_INVALID",
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
    fn every_row_of_the_table_is_read() {
        for line in TABLE.lines().filter(|line| !line.starts_with('#')) {
            let [client, pattern, class, reason] = columns(line).unwrap();
            let text = pattern.replace('*', "");
            let (found, why) = meaning(client, &text).unwrap();
            assert_eq!(
                (found.name(), why.to_string().as_str()),
                (class, reason),
                "{line}"
            );
            assert!(why.is_of(found), "{line}");
        }
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
                "SEC_ERROR_CERTIFICATE_COMPRESSION_ALGORITHM_NOT_SUPPORTED",
                FailureClass::Protocol,
                "certificate-compression-algorithm-not-supported",
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
            (
                "net::ERR_ECH_NOT_NEGOTIATED",
                FailureClass::EchRejected,
                "rejected",
            ),
            (
                "SSL_ERROR_ECH_RETRY_WITH_ECH",
                FailureClass::EchRejected,
                "rejected",
            ),
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
