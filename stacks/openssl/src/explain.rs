use std::error::Error;

use netbench_libssl::alert_of;
use netbench_tls::{
    CertificateFault,
    FailureClass::{Certificate, Closed, Protocol},
    FailureReason, FailureWord,
};
use netbench_worker::{Explained, hyphenated};
use openssl::{error::ErrorStack, x509::X509VerifyResult};

/// Returns the meaning of an error of OpenSSL.
pub(crate) fn explain(error: &(dyn Error + 'static)) -> Option<Explained> {
    netbench_libssl::explain(error, of_stack)
}

fn of_stack(stack: &ErrorStack) -> Option<Explained> {
    // The last error is the nearest to the handshake, except for this one, which is less specific
    // than the one before it.
    const VAGUE: &str = "record layer failure";
    let errors = stack.errors();
    let error = errors
        .iter()
        .rfind(|error| error.reason() != Some(VAGUE))
        .or(errors.last())?;
    if let Some(alert) = alert_of(error) {
        return Some(alert);
    }
    let Some(reason) = error.reason() else {
        return Some(Explained::new(Protocol, FailureWord::Unexplained));
    };
    Some(match reason {
        "unexpected eof while reading" => Explained::new(Closed, FailureWord::EndOfStream),
        "certificate verify failed" => Explained::new(Certificate, CertificateFault::Other),
        reason => Explained::new(Protocol, FailureReason::Library(hyphenated(reason))),
    })
}

/// Maps a result of `X509_verify_cert`: the numbers are the `X509_V_ERR_` ones of
/// openssl/x509_vfy.h.
pub(crate) fn certificate_fault(result: X509VerifyResult) -> CertificateFault {
    use CertificateFault as F;
    match result.as_raw() {
        2 | 18 | 19 | 20 | 21 | 27 => F::UnknownIssuer,
        4 | 6 | 13 | 14 => F::BadEncoding,
        7 => F::BadSignature,
        9 => F::NotYetValid,
        10 => F::Expired,
        23 => F::Revoked,
        24 | 79 => F::BadCa,
        26 => F::BadPurpose,
        34 => F::UnknownCriticalExtension,
        62..=64 => F::WrongName,
        66..=68 => F::WeakOrUnknownSignature,
        _ => F::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verification_results_have_the_words_of_every_worker() {
        let cases = [
            (20, CertificateFault::UnknownIssuer),
            (10, CertificateFault::Expired),
            (62, CertificateFault::WrongName),
            (9, CertificateFault::NotYetValid),
        ];
        for (code, word) in cases {
            // SAFETY: any number is a result; OpenSSL reports an unknown number as such.
            let result = unsafe { X509VerifyResult::from_raw(code) };
            assert_eq!(certificate_fault(result), word, "{}", result.error_string());
        }
    }
}
