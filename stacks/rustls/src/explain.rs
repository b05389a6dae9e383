use netbench_tls::{
    Alert, CertificateFault,
    FailureClass::{self, Certificate, Protocol},
    FailureReason, FailureWord,
};
use netbench_worker::{Explained, kebab};
use rustls::{CertificateError, Error, PeerIncompatible};

/// Returns the meaning of an error of rustls.
pub(crate) fn explain(error: &Error) -> Explained {
    match error {
        Error::AlertReceived(alert) => Explained::new(FailureClass::Alert, Alert(u8::from(*alert))),
        Error::InvalidCertificate(fault) => Explained::new(Certificate, certificate_fault(fault)),
        Error::NoCertificatesPresented => {
            Explained::new(Certificate, CertificateFault::NonePresented)
        }
        // The types of the configurations that the error contains are private.
        Error::PeerIncompatible(PeerIncompatible::ServerRejectedEncryptedClientHello(_)) => {
            Explained::ech_rejected(None)
        }
        Error::General(_) => Explained::new(FailureClass::Setup, FailureWord::Setup),
        other => Explained::new(
            Protocol,
            FailureReason::Library(kebab(&format!("{other:?}"))),
        ),
    }
}

/// Maps the errors of rustls and webpki about a certificate.
pub(crate) fn certificate_fault(fault: &CertificateError) -> CertificateFault {
    use CertificateError as E;
    use CertificateFault as F;
    match fault {
        E::BadEncoding => F::BadEncoding,
        E::Expired | E::ExpiredContext { .. } => F::Expired,
        E::NotValidYet | E::NotValidYetContext { .. } => F::NotYetValid,
        E::Revoked => F::Revoked,
        E::UnknownIssuer => F::UnknownIssuer,
        E::BadSignature => F::BadSignature,
        E::NotValidForName | E::NotValidForNameContext { .. } => F::WrongName,
        E::InvalidPurpose | E::InvalidPurposeContext { .. } => F::BadPurpose,
        E::UnhandledCriticalExtension => F::UnknownCriticalExtension,
        E::UnsupportedSignatureAlgorithmContext { .. }
        | E::UnsupportedSignatureAlgorithmForPublicKeyContext { .. } => F::WeakOrUnknownSignature,
        E::Other(other) => F::of_webpki(&other.to_string()),
        _ => F::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustls::{AlertDescription, InvalidMessage};

    #[test]
    fn errors_have_stable_words() {
        let cases = [
            (
                Error::AlertReceived(AlertDescription::HandshakeFailure),
                FailureClass::Alert,
                "handshake_failure",
            ),
            (
                Error::AlertReceived(AlertDescription::ProtocolVersion),
                FailureClass::Alert,
                "protocol_version",
            ),
            (
                CertificateError::UnknownIssuer.into(),
                Certificate,
                "unknown-issuer",
            ),
            (CertificateError::Expired.into(), Certificate, "expired"),
            (
                InvalidMessage::InvalidContentType.into(),
                Protocol,
                "invalid-message-invalid-content-type",
            ),
            (
                PeerIncompatible::NoCipherSuitesInCommon.into(),
                Protocol,
                "peer-incompatible-no-cipher-suites-in-common",
            ),
        ];
        for (error, class, reason) in cases {
            let found = explain(&error);
            assert_eq!(
                (found.class, found.reason.to_string()),
                (class, reason.to_owned())
            );
            assert!(found.reason.is_of(class), "{error:?}");
        }
    }
}
