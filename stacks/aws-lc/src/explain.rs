use openssl::error::{Error, ErrorStack};

/// Returns the cause: the first error. Later ones show where it was noticed.
pub(crate) fn cause(stack: &ErrorStack) -> Option<&Error> {
    stack.errors().first()
}
