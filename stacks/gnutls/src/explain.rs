use netbench_tls::{
    CertificateFault as Fault,
    FailureClass::{Alert, Certificate},
};
use netbench_worker::{Explained, hyphenated};

use crate::session::Error;

/// Returns the meaning of an error of GnuTLS. The probe has received the results of verification
/// before.
pub(crate) fn explain(error: &Error) -> Explained {
    if let Some(alert) = error.alert {
        return Explained::new(Alert, alert);
    }
    let name = error.name();
    match certificate_fault(name) {
        Some(fault) => Explained::new(Certificate, fault),
        None => Explained::of_library(hyphenated(name.strip_prefix("GNUTLS_E_").unwrap_or(name))),
    }
}

/// Returns the fault of a certificate that could not be verified at all.
pub(crate) fn certificate_fault(name: &str) -> Option<Fault> {
    Some(match name {
        "GNUTLS_E_NO_CERTIFICATE_FOUND" => Fault::NonePresented,
        "GNUTLS_E_X509_UNSUPPORTED_CRITICAL_EXTENSION" => Fault::UnknownCriticalExtension,
        "GNUTLS_E_KEY_USAGE_VIOLATION" => Fault::BadPurpose,
        "GNUTLS_E_CERTIFICATE_ERROR" | "GNUTLS_E_CERTIFICATE_VERIFICATION_ERROR" => Fault::Other,
        "GNUTLS_E_UNSUPPORTED_SIGNATURE_ALGORITHM" | "GNUTLS_E_UNKNOWN_PK_ALGORITHM" => {
            Fault::WeakOrUnknownSignature
        }
        name if name.starts_with("GNUTLS_E_ASN1_") || name.starts_with("GNUTLS_E_X509_") => {
            Fault::BadEncoding
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use netbench_tls::{FailureClass::Protocol, FailureReason};

    use super::*;

    #[test]
    fn errors_have_stable_words() {
        const DECRYPTION_FAILED: i32 = -24;
        const NO_CERTIFICATE_FOUND: i32 = -49;
        let cases = [
            (
                DECRYPTION_FAILED,
                Explained::new(
                    Protocol,
                    FailureReason::Library("decryption-failed".to_owned()),
                ),
            ),
            (
                NO_CERTIFICATE_FOUND,
                Explained::new(Certificate, Fault::NonePresented),
            ),
        ];
        for (code, due) in cases {
            assert_eq!(explain(&Error::of(code)), due);
        }
    }
}
