use std::error::Error;

use netbench_tls::{
    Alert,
    FailureClass::{self, Closed},
    FailureWord,
};
use netbench_worker::Explained;
use openssl::{
    error::{Error as OpenSslError, ErrorStack},
    ssl::{self, ErrorCode},
};

/// Returns the meaning of an error of the openssl crate, with that of the library's errors from `of_stack`.
pub fn explain(
    error: &(dyn Error + 'static),
    of_stack: fn(&ErrorStack) -> Option<Explained>,
) -> Option<Explained> {
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

/// Returns the received alert, if that is the error.
pub fn alert_of(error: &OpenSslError) -> Option<Explained> {
    /// `SSL_AD_REASON_OFFSET` of openssl/ssl.h: reasons from here on are received alerts.
    const ALERT_OFFSET: i32 = 1000;
    let alert = u8::try_from(error.reason_code() - ALERT_OFFSET).ok()?;
    Some(Explained::new(FailureClass::Alert, Alert(alert)))
}
