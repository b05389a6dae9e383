use std::{io, process::ExitCode};

/// The reason for a shim's failure.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The shim or its library cannot meet the requirement of a flag. Exit code 89.
    #[error("unsupported: {0}")]
    Unsupported(String),
    /// The library reported an error, or a property differed from the test's expectation. Exit code
    /// 1.
    #[error("{0}")]
    Failed(String),
    /// The peer rejected early data; the exchange is to be repeated without them.
    #[error("early data was rejected")]
    EarlyDataRejected,
    /// The transport failed.
    #[error("transport: {0}")]
    Transport(#[from] io::Error),
}

impl Failure {
    /// Makes a failure with this message.
    pub fn failed(message: impl Into<String>) -> Self {
        Self::Failed(message.into())
    }

    /// Makes a failure for a flag, or its value, that cannot be expressed.
    pub fn unsupported(what: impl Into<String>) -> Self {
        Self::Unsupported(what.into())
    }

    /// Writes the failure to stderr, where the runner expects it, and returns the exit code.
    #[expect(clippy::print_stderr, reason = "the runner reads errors from stderr")]
    pub(crate) fn report(&self) -> ExitCode {
        eprintln!("{self}");
        ExitCode::from(if matches!(self, Self::Unsupported(_)) {
            89
        } else {
            1
        })
    }
}
