use netbench_tls::{
    Alert, CertificateFault,
    FailureClass::{self, Certificate, Protocol},
    FailureReason, FailureWord,
};
use netbench_worker::{Explained, kebab};
use rustls::error::{CertificateError, Error, PeerMisbehaved};

/// Returns the meaning of an error of rustls.
pub(crate) fn explain(error: &Error) -> Explained {
    match error {
        Error::AlertReceived(alert) => Explained::new(FailureClass::Alert, Alert(alert.0)),
        Error::InvalidCertificate(fault) => Explained::new(Certificate, certificate_fault(fault)),
        Error::PeerMisbehaved(PeerMisbehaved::NoCertificatesPresented) => {
            Explained::new(Certificate, CertificateFault::NonePresented)
        }
        Error::General(_) | Error::ApiMisuse(_) => {
            Explained::new(FailureClass::Setup, FailureWord::Setup)
        }
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
        E::UnsupportedSignatureAlgorithm { .. }
        | E::UnsupportedSignatureAlgorithmForPublicKey { .. } => F::WeakOrUnknownSignature,
        E::Other(other) => F::of_webpki(&other.to_string()),
        _ => F::Other,
    }
}
