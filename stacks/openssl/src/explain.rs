use std::error::Error;

use netbench_model::FailureClass::{Alert, Certificate, Closed, Protocol};
use netbench_worker::Explained;
use openssl::{
    error::ErrorStack,
    ssl::{self, ErrorCode},
    x509::X509VerifyResult,
};

/// `SSL_AD_REASON_OFFSET` of openssl/ssl.h: reasons from here on are received alerts.
const ALERT_OFFSET: i32 = 1000;

/// What an error of OpenSSL means.
pub(crate) fn explain(error: &(dyn Error + 'static)) -> Option<Explained> {
    if let Some(error) = error.downcast_ref::<ErrorStack>() {
        return of_stack(error);
    }
    let error = error.downcast_ref::<ssl::Error>()?;
    if let Some(stack) = error.ssl_error() {
        return of_stack(stack);
    }
    // An end of stream is a failed system call without an error.
    let ended = error.code() == ErrorCode::SYSCALL && error.io_error().is_none();
    (ended || error.code() == ErrorCode::ZERO_RETURN)
        .then(|| Explained::new(Closed, "end of stream"))
}

fn of_stack(stack: &ErrorStack) -> Option<Explained> {
    // The last one is the nearest to the handshake, but for this one, which says less than the one
    // before it.
    const VAGUE: &str = "record layer failure";
    let errors = stack.errors();
    let error = errors
        .iter()
        .rfind(|error| error.reason() != Some(VAGUE))
        .or(errors.last())?;
    let code = error.reason_code();
    if (ALERT_OFFSET..ALERT_OFFSET + 256).contains(&code) {
        return Some(Explained::new(Alert, alert_name(code - ALERT_OFFSET)));
    }
    let reason = error.reason().unwrap_or("unexplained");
    Some(match reason {
        "unexpected eof while reading" => Explained::new(Closed, "end of stream"),
        "certificate verify failed" => Explained::new(Certificate, "other"),
        reason => Explained::new(
            Protocol,
            reason.replace([' ', '_'], "-").to_ascii_lowercase(),
        ),
    })
}

/// An alert's name in RFC 8446 section 6, or RFC 5246 section 7.2 for those that it dropped.
fn alert_name(alert: i32) -> String {
    let name = match alert {
        0 => "close_notify",
        10 => "unexpected_message",
        20 => "bad_record_mac",
        21 => "decryption_failed",
        22 => "record_overflow",
        30 => "decompression_failure",
        40 => "handshake_failure",
        41 => "no_certificate",
        42 => "bad_certificate",
        43 => "unsupported_certificate",
        44 => "certificate_revoked",
        45 => "certificate_expired",
        46 => "certificate_unknown",
        47 => "illegal_parameter",
        48 => "unknown_ca",
        49 => "access_denied",
        50 => "decode_error",
        51 => "decrypt_error",
        70 => "protocol_version",
        71 => "insufficient_security",
        80 => "internal_error",
        86 => "inappropriate_fallback",
        90 => "user_canceled",
        100 => "no_renegotiation",
        109 => "missing_extension",
        110 => "unsupported_extension",
        112 => "unrecognized_name",
        113 => "bad_certificate_status_response",
        115 => "unknown_psk_identity",
        116 => "certificate_required",
        120 => "no_application_protocol",
        other => return format!("{other:#04x}"),
    };
    name.to_owned()
}

/// The words for a certificate's fault, which every worker uses. The numbers are the `X509_V_ERR_`
/// ones of openssl/x509_vfy.h.
pub(crate) fn certificate_fault(result: X509VerifyResult) -> String {
    let word = match result.as_raw() {
        2 | 18 | 19 | 20 | 21 | 27 => "unknown-issuer",
        4 | 6 | 13 | 14 => "bad-encoding",
        7 => "bad-signature",
        9 => "not-yet-valid",
        10 => "expired",
        23 => "revoked",
        24 | 79 => "bad-ca",
        26 => "bad-purpose",
        34 => "unknown-critical-extension",
        62..=64 => "wrong-name",
        66..=68 => "weak-or-unknown-signature",
        _ => return format!("other: {}", result.error_string()),
    };
    word.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verification_results_have_the_words_of_every_worker() {
        let cases = [
            (20, "unknown-issuer"),
            (10, "expired"),
            (62, "wrong-name"),
            (9, "not-yet-valid"),
        ];
        for (code, word) in cases {
            // SAFETY: any number is a result; OpenSSL calls those it does not know unknown.
            let result = unsafe { X509VerifyResult::from_raw(code) };
            assert_eq!(certificate_fault(result), word, "{}", result.error_string());
        }
    }
}
