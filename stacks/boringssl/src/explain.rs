use std::error::Error;

use boring::{
    error::ErrorStack,
    ssl::{self, ErrorCode},
};
use netbench_tls::{FailureClass, FailureWord};
use netbench_worker::Explained;

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
        .then(|| Explained::new(FailureClass::Closed, FailureWord::EndOfStream))
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
    Some(Explained::of_libssl(error.reason_code(), error.reason()))
}
