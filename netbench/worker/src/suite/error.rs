use super::SessionError;
use crate::SetupError;

/// The reason why a scenario cannot be prepared.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PrepareError {
    #[error(transparent)]
    Setup(#[from] SetupError),
    #[error(transparent)]
    Session(#[from] SessionError),
}

/// Returns the error for a stack whose worker has no in-memory suite.
pub(crate) fn not_in_memory(stack: &str) -> SetupError {
    SetupError::Unsupported(format!("the worker of {stack} has no sessions in memory"))
}
