use netbench_tls::{CertificateFault as Fault, FailureClass::Certificate};
use netbench_worker::{Explained, hyphenated};
use s2n_tls::error::{Error, ErrorType};

/// Returns the meaning of an error of s2n-tls. For failures of the transport, the enclosing error is more
/// specific, and for alerts the probe.
pub(crate) fn explain(error: &Error) -> Option<Explained> {
    if let Some(fault) = certificate_fault(error.name()) {
        return Some(Explained::new(Certificate, fault));
    }
    match error.kind() {
        ErrorType::IOError | ErrorType::ConnectionClosed | ErrorType::Alert => None,
        _ => Some(Explained::of_library(kebab(error.name()))),
    }
}

/// Returns the fault of a certificate. Most of the libcrypto's errors, including an unknown issuer, have a single
/// name in s2n-tls.
fn certificate_fault(name: &str) -> Option<Fault> {
    Some(match name {
        "S2N_ERR_CERT_UNTRUSTED" => Fault::Other,
        "S2N_ERR_CERT_INVALID_HOSTNAME" => Fault::WrongName,
        "S2N_ERR_CERT_EXPIRED" => Fault::Expired,
        "S2N_ERR_CERT_NOT_YET_VALID" => Fault::NotYetValid,
        "S2N_ERR_CERT_REVOKED" => Fault::Revoked,
        "S2N_ERR_CERT_INVALID" | "S2N_ERR_DECODE_CERTIFICATE" => Fault::BadEncoding,
        "S2N_ERR_CERT_INTENT_INVALID" => Fault::BadPurpose,
        "S2N_ERR_CERT_UNHANDLED_CRITICAL_EXTENSION" => Fault::UnknownCriticalExtension,
        "S2N_ERR_CERT_TYPE_UNSUPPORTED" | "S2N_ERR_SECURITY_POLICY_INCOMPATIBLE_CERT" => {
            Fault::WeakOrUnknownSignature
        }
        "S2N_ERR_NO_CERT_FOUND" => Fault::NonePresented,
        "S2N_ERR_CERT_MAX_CHAIN_DEPTH_EXCEEDED" | "S2N_ERR_INVALID_OCSP_RESPONSE" => Fault::Other,
        _ => return None,
    })
}

/// Returns the library's own name of an error, in lowercase with hyphens.
fn kebab(name: &str) -> String {
    hyphenated(name.strip_prefix("S2N_ERR_").unwrap_or(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_have_stable_words() {
        assert_eq!(kebab("S2N_ERR_BAD_KEY_SHARE"), "bad-key-share");
        let cases = [
            ("S2N_ERR_CERT_EXPIRED", Some(Fault::Expired)),
            ("S2N_ERR_CERT_UNTRUSTED", Some(Fault::Other)),
            ("S2N_ERR_BAD_MESSAGE", None),
        ];
        for (name, fault) in cases {
            assert_eq!(certificate_fault(name), fault, "{name}");
        }
    }
}
