use super::SessionError;
use crate::SetupError;

/// The reason why a scenario cannot be prepared.
#[derive(Debug)]
pub(crate) enum PrepareError {
    Setup(SetupError),
    Session(SessionError),
}

impl From<SetupError> for PrepareError {
    fn from(error: SetupError) -> Self {
        Self::Setup(error)
    }
}

impl From<SessionError> for PrepareError {
    fn from(error: SessionError) -> Self {
        Self::Session(error)
    }
}

/// Returns the error for a stack whose worker has no in-memory suite.
pub(crate) fn not_in_memory(stack: &str) -> SetupError {
    SetupError::Unsupported(format!("the worker of {stack} has no sessions in memory"))
}
