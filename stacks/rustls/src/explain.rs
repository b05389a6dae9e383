use netbench_tls::{
    Alert, CertificateFault as Fault,
    FailureClass::{self, Certificate},
    FailureWord,
};
use netbench_worker::{Explained, kebab};
use rustls::{Error, PeerIncompatible};

/// Returns the meaning of an error of rustls.
pub(crate) fn explain(error: &Error) -> Explained {
    match error {
        Error::AlertReceived(alert) => Explained::new(FailureClass::Alert, Alert(u8::from(*alert))),
        Error::InvalidCertificate(_) => Explained::new(Certificate, Fault::of_rustls(error)),
        Error::NoCertificatesPresented => Explained::new(Certificate, Fault::NonePresented),
        // The types of the configurations that the error contains are private.
        Error::PeerIncompatible(PeerIncompatible::ServerRejectedEncryptedClientHello(_)) => {
            Explained::ech_rejected(None)
        }
        Error::General(_) => Explained::new(FailureClass::Setup, FailureWord::Setup),
        other => Explained::of_library(kebab(&format!("{other:?}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustls::{AlertDescription, CertificateError, InvalidMessage};

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
                FailureClass::Protocol,
                "invalid-message-invalid-content-type",
            ),
            (
                PeerIncompatible::NoCipherSuitesInCommon.into(),
                FailureClass::Protocol,
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
