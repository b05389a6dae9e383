use std::error::Error;

use netbench_libssl::alert_of;
use netbench_tls::{
    CertificateFault,
    FailureClass::{Certificate, Protocol},
    FailureReason, FailureWord,
};
use netbench_worker::{Explained, hyphenated};
use openssl::{error::ErrorStack, x509::X509VerifyResult};

/// Returns the meaning of an error of AWS-LC.
pub(crate) fn explain(error: &(dyn Error + 'static)) -> Option<Explained> {
    netbench_libssl::explain(error, of_stack)
}

fn of_stack(stack: &ErrorStack) -> Option<Explained> {
    // The first error is the cause; later ones show where it was noticed.
    let error = stack.errors().first()?;
    if let Some(alert) = alert_of(error) {
        return Some(alert);
    }
    Some(match error.reason() {
        Some("CERTIFICATE_VERIFY_FAILED") => Explained::new(Certificate, CertificateFault::Other),
        Some(reason) => Explained::new(Protocol, FailureReason::Library(hyphenated(reason))),
        None => Explained::new(Protocol, FailureWord::Unexplained),
    })
}

/// Maps a result of `X509_verify_cert`: the numbers are the `X509_V_ERR_` ones of openssl/x509.h.
pub(crate) fn certificate_fault(result: X509VerifyResult) -> CertificateFault {
    use CertificateFault as F;
    match result.as_raw() {
        2 | 18 | 19 | 20 | 21 | 27 => F::UnknownIssuer,
        4 | 6 | 13 | 14 => F::BadEncoding,
        7 => F::BadSignature,
        9 => F::NotYetValid,
        10 => F::Expired,
        23 => F::Revoked,
        24 | 37 => F::BadCa,
        26 => F::BadPurpose,
        34 => F::UnknownCriticalExtension,
        62..=64 => F::WrongName,
        _ => F::Other,
    }
}
