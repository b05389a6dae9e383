use std::{io, process::ExitCode};

/// Why a shim did not end well.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The shim or its library has no way to do what a flag asks for. Exit code 89.
    #[error("unsupported: {0}")]
    Unsupported(String),
    /// The library reported an error, or a property was not as the test expects. Exit code 1.
    #[error("{0}")]
    Failed(String),
    /// The peer did not take early data; the exchange is to be tried again without it.
    #[error("early data was rejected")]
    EarlyDataRejected,
    /// The transport broke.
    #[error("transport: {0}")]
    Transport(#[from] io::Error),
}

impl Failure {
    /// A failure with this message.
    pub fn failed(message: impl Into<String>) -> Self {
        Self::Failed(message.into())
    }

    /// A flag, or its value, that cannot be expressed.
    pub fn unsupported(what: impl Into<String>) -> Self {
        Self::Unsupported(what.into())
    }

    /// Writes the failure to stderr, where the runner looks for it, and gives the exit code.
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
