use netbench_tls::{
    Alert, CertificateFault as Fault,
    FailureClass::{self, Certificate},
    FailureWord,
};
use netbench_worker::{Explained, kebab};
use rustls::error::{Error, PeerMisbehaved};

/// Returns the meaning of an error of rustls.
pub(crate) fn explain(error: &Error) -> Explained {
    match error {
        Error::AlertReceived(alert) => Explained::new(FailureClass::Alert, Alert(alert.0)),
        Error::InvalidCertificate(_) => Explained::new(Certificate, Fault::of_rustls(error)),
        Error::PeerMisbehaved(PeerMisbehaved::NoCertificatesPresented) => {
            Explained::new(Certificate, Fault::NonePresented)
        }
        Error::General(_) | Error::ApiMisuse(_) => {
            Explained::new(FailureClass::Setup, FailureWord::Setup)
        }
        other => Explained::of_library(kebab(&format!("{other:?}"))),
    }
}
