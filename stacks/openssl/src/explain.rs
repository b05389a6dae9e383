use openssl::error::{Error, ErrorStack};

/// Returns the cause: the last error, which is the nearest to the handshake, except for this one, which is less specific
/// than the one before it.
pub(crate) fn cause(stack: &ErrorStack) -> Option<&Error> {
    const VAGUE: &str = "record layer failure";
    let errors = stack.errors();
    let specific = errors.iter().rfind(|error| error.reason() != Some(VAGUE));
    specific.or(errors.last())
}
