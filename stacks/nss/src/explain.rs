use netbench_tls::{
    CertificateFault as Fault,
    FailureClass::{Alert, Certificate},
};
use netbench_worker::{Explained, hyphenated};

use crate::library::Error;

/// Returns the meaning of an error of NSS. The probe has received the results of verification
/// before.
pub(crate) fn explain(error: &Error) -> Explained {
    if let Some(alert) = error.alert {
        return Explained::new(Alert, alert);
    }
    match error.name() {
        // Certificates are parsed before they are verified.
        name @ ("SEC_ERROR_BAD_DER"
        | "SEC_ERROR_EXTENSION_VALUE_INVALID"
        | "SEC_ERROR_REUSED_ISSUER_AND_SERIAL"
        | "SEC_ERROR_UNSUPPORTED_ELLIPTIC_CURVE"
        | "SEC_ERROR_UNSUPPORTED_KEYALG"
        | "SSL_ERROR_BAD_CERTIFICATE"
        | "SSL_ERROR_WEAK_SERVER_CERT_KEY") => {
            Explained::new(Certificate, certificate_fault(name).unwrap_or(Fault::Other))
        }
        name => Explained::of_library(hyphenated(name.strip_prefix("SSL_ERROR_").unwrap_or(name))),
    }
}

/// Returns the fault of a certificate by the library's name of an error.
pub(crate) fn certificate_fault(name: &str) -> Option<Fault> {
    Some(match name {
        "SEC_ERROR_EXPIRED_CERTIFICATE" | "SEC_ERROR_EXPIRED_ISSUER_CERTIFICATE" => Fault::Expired,
        "SEC_ERROR_REVOKED_CERTIFICATE" => Fault::Revoked,
        "SEC_ERROR_UNKNOWN_ISSUER" | "SEC_ERROR_UNTRUSTED_ISSUER" | "SEC_ERROR_UNTRUSTED_CERT" => {
            Fault::UnknownIssuer
        }
        "SEC_ERROR_BAD_SIGNATURE" => Fault::BadSignature,
        "SEC_ERROR_CA_CERT_INVALID" | "SEC_ERROR_PATH_LEN_CONSTRAINT_INVALID" => Fault::BadCa,
        "SEC_ERROR_INADEQUATE_KEY_USAGE"
        | "SEC_ERROR_INADEQUATE_CERT_TYPE"
        | "SEC_ERROR_CERT_USAGES_INVALID" => Fault::BadPurpose,
        "SEC_ERROR_UNKNOWN_CRITICAL_EXTENSION" => Fault::UnknownCriticalExtension,
        "SEC_ERROR_BAD_DER" | "SEC_ERROR_EXTENSION_VALUE_INVALID" => Fault::BadEncoding,
        "SEC_ERROR_CERT_SIGNATURE_ALGORITHM_DISABLED"
        | "SEC_ERROR_INVALID_ALGORITHM"
        | "SEC_ERROR_INVALID_KEY"
        | "SEC_ERROR_UNSUPPORTED_ELLIPTIC_CURVE"
        | "SEC_ERROR_UNSUPPORTED_KEYALG"
        | "SSL_ERROR_WEAK_SERVER_CERT_KEY" => Fault::WeakOrUnknownSignature,
        "SSL_ERROR_BAD_CERT_DOMAIN" => Fault::WrongName,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use netbench_tls::{FailureClass::Protocol, FailureReason};

    use super::*;
    use crate::{ffi, library::library};

    #[test]
    fn errors_have_stable_words() {
        library().expect("NSS");
        const SEC_ERROR_BAD_DER: i32 = -8183;
        const SSL_ERROR_NO_CYPHER_OVERLAP: i32 = -12286;
        for (code, word) in [
            (SSL_ERROR_NO_CYPHER_OVERLAP, "no-cypher-overlap"),
            (ffi::PR_IO_ERROR, "pr-io-error"),
        ] {
            let due = Explained::new(Protocol, FailureReason::Library(word.to_owned()));
            assert_eq!(explain(&Error::of(code)), due);
        }
        let due = Explained::new(Certificate, Fault::BadEncoding);
        assert_eq!(explain(&Error::of(SEC_ERROR_BAD_DER)), due);
    }

    #[test]
    fn what_is_wrong_with_a_certificate_has_the_words_of_every_worker() {
        library().expect("NSS");
        let cases = [
            (ffi::SSL_ERROR_BAD_CERT_DOMAIN, Fault::WrongName),
            (ffi::SEC_ERROR_INADEQUATE_KEY_USAGE, Fault::BadPurpose),
            (-8181, Fault::Expired),
            (-8179, Fault::UnknownIssuer),
            (-8180, Fault::Revoked),
        ];
        for (code, due) in cases {
            let error = Error::of(code);
            assert_eq!(certificate_fault(error.name()), Some(due), "{error}");
        }
    }
}
