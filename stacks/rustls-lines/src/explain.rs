use netbench_tls::{
    Alert, CertificateFault,
    FailureClass::{self, Certificate, Protocol},
    FailureReason, FailureWord,
};
use netbench_worker::{Explained, kebab};
use rustls::{CertificateError, Error};

/// Returns the meaning of an error of rustls.
pub(crate) fn explain(error: &Error) -> Explained {
    match error {
        Error::AlertReceived(alert) => Explained::new(FailureClass::Alert, Alert(alert.get_u8())),
        Error::InvalidCertificate(fault) => Explained::new(Certificate, certificate_fault(fault)),
        Error::NoCertificatesPresented => {
            Explained::new(Certificate, CertificateFault::NonePresented)
        }
        Error::General(_) => Explained::new(FailureClass::Setup, FailureWord::Setup),
        other => Explained::new(
            Protocol,
            FailureReason::Library(kebab(&format!("{other:?}"))),
        ),
    }
}

/// Returns the fault of a chain that was refused with this error.
pub(crate) fn fault_of(error: &Error) -> CertificateFault {
    match error {
        Error::InvalidCertificate(fault) => certificate_fault(fault),
        _ => CertificateFault::Other,
    }
}

fn certificate_fault(fault: &CertificateError) -> CertificateFault {
    use CertificateError as E;
    use CertificateFault as F;
    match fault {
        E::BadEncoding => F::BadEncoding,
        E::Expired => F::Expired,
        E::NotValidYet => F::NotYetValid,
        E::Revoked => F::Revoked,
        E::UnknownIssuer => F::UnknownIssuer,
        E::BadSignature => F::BadSignature,
        E::NotValidForName => F::WrongName,
        E::InvalidPurpose => F::BadPurpose,
        E::UnhandledCriticalExtension => F::UnknownCriticalExtension,
        E::Other(other) => F::of_webpki(&other.to_string()),
        _ => F::Other,
    }
}
