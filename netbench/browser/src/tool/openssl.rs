//! OpenSSL's messages, as programs report them.

use netbench_model::{Alert, Failure, FailureClass, FailureReason, FailureWord};

/// Returns the failure of a handshake by OpenSSL's message: `sslv3 alert handshake failure`,
/// `UNSUPPORTED_PROTOCOL`.
pub(super) fn failure(words: &str, detail: &str) -> Failure {
    let words = words.to_ascii_lowercase().replace(['_', '-'], " ");
    let (class, reason) = match alert(&words) {
        Some(alert) => (FailureClass::Alert, alert.into()),
        None => ended(&words).unwrap_or_else(|| {
            let name = words.split_whitespace().collect::<Vec<_>>().join("-");
            let name = name.replace(
                |c: char| !c.is_ascii_lowercase() && !c.is_ascii_digit(),
                "-",
            );
            let reason = match name.is_empty() {
                true => FailureWord::Unexplained.into(),
                false => FailureReason::Library(name),
            };
            (FailureClass::Protocol, reason)
        }),
    };
    of(class, reason, detail)
}

/// Makes a failure with the program's own message.
pub(super) fn of(class: FailureClass, reason: impl Into<FailureReason>, detail: &str) -> Failure {
    let detail = netbench_model::sanitize_prefix(detail.trim(), 300);
    Failure::new(class, reason, detail)
}

/// Returns the received alert by a message such as `tlsv1 alert protocol version`; some names lack `alert`.
fn alert(words: &str) -> Option<Alert> {
    let name = match words.split_once(" alert ") {
        Some((_, name)) => name,
        None => words
            .strip_prefix("tlsv1 ")
            .or_else(|| words.strip_prefix("tlsv13 "))?,
    };
    let name = match name.trim() {
        "certificate unknown" => "certificate_unknown".to_owned(),
        "bad certificate status response" => "bad_certificate_status_response".to_owned(),
        name => name.replace(' ', "_"),
    };
    Alert::registered().find(|alert| alert.name() == Some(&name))
}

fn ended(words: &str) -> Option<(FailureClass, FailureReason)> {
    let ends = [
        ("reset by peer", FailureWord::Reset),
        ("econnreset", FailureWord::Reset),
        ("ssl error syscall", FailureWord::Reset),
        ("unexpected eof", FailureWord::EndOfStream),
        ("eof occurred", FailureWord::EndOfStream),
        ("socket hang up", FailureWord::EndOfStream),
    ];
    let (_, word) = ends.into_iter().find(|(part, _)| words.contains(part))?;
    Some((FailureClass::Closed, word.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_that_all_clients_share() {
        for (words, class, reason) in [
            (
                "sslv3 alert handshake failure",
                FailureClass::Alert,
                "handshake_failure",
            ),
            (
                "TLSV1_ALERT_PROTOCOL_VERSION",
                FailureClass::Alert,
                "protocol_version",
            ),
            (
                "tlsv1 unrecognized name",
                FailureClass::Alert,
                "unrecognized_name",
            ),
            (
                "unexpected eof while reading",
                FailureClass::Closed,
                "end of stream",
            ),
            (
                "UNSUPPORTED_PROTOCOL",
                FailureClass::Protocol,
                "unsupported-protocol",
            ),
            (
                "dh key too small",
                FailureClass::Protocol,
                "dh-key-too-small",
            ),
            ("", FailureClass::Protocol, "unexplained"),
        ] {
            let failure = failure(words, words);
            assert_eq!(
                (failure.class, failure.reason.to_string().as_str()),
                (class, reason),
                "{words}"
            );
            assert!(failure.reason.is_of(class), "{words}");
        }
    }
}
