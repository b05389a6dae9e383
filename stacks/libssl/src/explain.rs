use std::error::Error;

use netbench_tls::{FailureClass, FailureWord};
use netbench_worker::Explained;
use openssl::{
    error::{Error as OpenSslError, ErrorStack},
    ssl::{self, ErrorCode},
};

use crate::Libssl;

/// Returns the meaning of an error of the openssl crate.
pub fn explain<L: Libssl>(error: &(dyn Error + 'static)) -> Option<Explained> {
    if let Some(stack) = error.downcast_ref::<ErrorStack>() {
        return L::cause(stack).map(of_library);
    }
    let error = error.downcast_ref::<ssl::Error>()?;
    if let Some(stack) = error.ssl_error() {
        return L::cause(stack).map(of_library);
    }
    // An end of stream is a failed system call without an error.
    let ended = error.code() == ErrorCode::SYSCALL && error.io_error().is_none();
    (ended || error.code() == ErrorCode::ZERO_RETURN)
        .then(|| Explained::new(FailureClass::Closed, FailureWord::EndOfStream))
}

fn of_library(error: &OpenSslError) -> Explained {
    // The list is read before anything is sent.
    if error.function() == Some("SSL_set1_ech_config_list") {
        return Explained::new(FailureClass::Setup, FailureWord::Configuration);
    }
    Explained::of_libssl(error.reason_code(), error.reason())
}
