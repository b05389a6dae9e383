use std::error::Error;

use netbench_tls::{
    Alert, CertificateFault,
    FailureClass::{self, Certificate, Closed, Protocol},
    FailureReason, FailureWord,
};
use netbench_worker::{Explained, hyphenated};
use openssl::{
    error::{Error as OpenSslError, ErrorStack},
    ssl::{self, ErrorCode},
};

/// `SSL_AD_REASON_OFFSET` of openssl/ssl.h: reasons from here on are received alerts.
const ALERT_OFFSET: i32 = 1000;

/// Returns the meaning of an error of the openssl crate. `cause` returns that of the library's errors which explains the
/// failure.
pub fn explain(
    error: &(dyn Error + 'static),
    cause: fn(&ErrorStack) -> Option<&OpenSslError>,
) -> Option<Explained> {
    if let Some(stack) = error.downcast_ref::<ErrorStack>() {
        return cause(stack).map(of_library);
    }
    let error = error.downcast_ref::<ssl::Error>()?;
    if let Some(stack) = error.ssl_error() {
        return cause(stack).map(of_library);
    }
    // An end of stream is a failed system call without an error.
    let ended = error.code() == ErrorCode::SYSCALL && error.io_error().is_none();
    (ended || error.code() == ErrorCode::ZERO_RETURN)
        .then(|| Explained::new(Closed, FailureWord::EndOfStream))
}

fn of_library(error: &OpenSslError) -> Explained {
    if let Ok(alert) = u8::try_from(error.reason_code() - ALERT_OFFSET) {
        return Explained::new(FailureClass::Alert, Alert(alert));
    }
    // The list is read before anything is sent.
    if error.function() == Some("SSL_set1_ech_config_list") {
        return Explained::new(FailureClass::Setup, FailureWord::Configuration);
    }
    match error.reason().map(hyphenated).as_deref() {
        Some("unexpected-eof-while-reading") => Explained::new(Closed, FailureWord::EndOfStream),
        Some("certificate-verify-failed") => Explained::new(Certificate, CertificateFault::Other),
        Some(reason) => Explained::new(Protocol, FailureReason::Library(reason.to_owned())),
        None => Explained::new(Protocol, FailureWord::Unexplained),
    }
}
