use netbench_tls::{
    Alert, CertificateFault,
    FailureClass::{self, Certificate, Protocol},
    FailureReason, FailureWord,
};
use netbench_worker::{Explained, kebab};
use rustls::error::{Error, PeerMisbehaved};

/// Returns the meaning of an error of rustls.
pub(crate) fn explain(error: &Error) -> Explained {
    match error {
        Error::AlertReceived(alert) => Explained::new(FailureClass::Alert, Alert(alert.0)),
        Error::InvalidCertificate(_) => {
            Explained::new(Certificate, CertificateFault::of_rustls(error))
        }
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
