use std::error::Error;

use boring::{
    error::ErrorStack,
    ssl::{self, ErrorCode},
};
use netbench_tls::{
    Alert, CertificateFault,
    FailureClass::{self, Certificate, Closed, Protocol},
    FailureReason, FailureWord,
};
use netbench_worker::{Explained, hyphenated};

/// `SSL_AD_REASON_OFFSET` of openssl/ssl.h: reasons from here on are received alerts.
const ALERT_OFFSET: i32 = 1000;

/// Returns the meaning of an error of BoringSSL.
pub(crate) fn explain(error: &(dyn Error + 'static)) -> Option<Explained> {
    if let Some(error) = error.downcast_ref::<ErrorStack>() {
        return of_stack(error);
    }
    let error = error.downcast_ref::<ssl::Error>()?;
    if let Some(stack) = error.ssl_error() {
        return of_stack(stack);
    }
    // An end of stream is a failed system call without an error.
    let ended = error.code() == ErrorCode::SYSCALL && error.io_error().is_none();
    (ended || error.code() == ErrorCode::ZERO_RETURN)
        .then(|| Explained::new(Closed, FailureWord::EndOfStream))
}

fn of_stack(stack: &ErrorStack) -> Option<Explained> {
    // The list is read before anything is sent.
    let mut errors = stack.errors().iter();
    if errors.any(|error| error.reason() == Some("INVALID_ECH_CONFIG_LIST")) {
        return Some(Explained::new(
            FailureClass::Setup,
            FailureWord::Configuration,
        ));
    }
    // The first error is the cause; later ones show where it was noticed.
    let error = stack.errors().first()?;
    if let Ok(alert) = u8::try_from(error.reason_code() - ALERT_OFFSET) {
        return Some(Explained::new(FailureClass::Alert, Alert(alert)));
    }
    Some(match error.reason() {
        Some("CERTIFICATE_VERIFY_FAILED") => Explained::new(Certificate, CertificateFault::Other),
        Some(reason) => Explained::new(Protocol, FailureReason::Library(hyphenated(reason))),
        None => Explained::new(Protocol, FailureWord::Unexplained),
    })
}
