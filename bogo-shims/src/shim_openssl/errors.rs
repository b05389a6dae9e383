//! Errors of libssl in the words that the runner looks for.

use openssl::error::ErrorStack;

use crate::Failure;

/// An error of the library as a failure of the test.
pub(crate) fn library(stack: ErrorStack) -> Failure {
    Failure::failed(words(&stack))
}

/// The reasons of all errors, a line each.
pub(crate) fn words(stack: &ErrorStack) -> String {
    let lines = stack.errors().iter().map(|error| {
        let reason = error.reason().unwrap_or("unknown");
        format!(":{}:", reason.to_uppercase().replace(' ', "_"))
    });
    lines.collect::<Vec<_>>().join("\n")
}
