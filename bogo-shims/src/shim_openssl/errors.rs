//! Errors of libssl in the format that the runner expects.

use std::ffi::c_int;

use openssl::error::ErrorStack;

use crate::Failure;

/// Converts an error of the library to a failure of the test.
pub(crate) fn library(stack: ErrorStack) -> Failure {
    Failure::failed(words(&stack))
}

/// Converts the result of a function that returns 1 for success.
pub(crate) fn succeeded(result: c_int) -> Result<(), Failure> {
    if result == 1 {
        Ok(())
    } else {
        Err(library(ErrorStack::get()))
    }
}

/// Returns the reasons of all errors, one per line.
pub(crate) fn words(stack: &ErrorStack) -> String {
    let lines = stack.errors().iter().map(|error| {
        let reason = error.reason().unwrap_or("unknown");
        format!(":{}:", reason.to_uppercase().replace(' ', "_"))
    });
    lines.collect::<Vec<_>>().join("\n")
}
