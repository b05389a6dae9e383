use std::io;

use netbench_model::{Failure, FailureClass, FailureReason, FailureWord, Phase};

/// What went wrong with a browser, where it is no page of the browser's own that says so.
#[derive(Debug, thiserror::Error)]
pub enum BrowserError {
    /// A program is not installed.
    #[error("{what} is not installed: {help}")]
    Missing {
        /// Which.
        what: String,
        /// What helps.
        help: String,
    },
    /// A program is there, and cannot be used.
    #[error("{what} cannot be used: {why}")]
    Unusable {
        /// Which.
        what: String,
        /// Why.
        why: String,
    },
    /// The profile cannot be made.
    #[error("cannot make a profile: {what}: {source}")]
    Profile {
        /// What failed.
        what: String,
        /// What the system said.
        source: io::Error,
    },
    /// The browser cannot be started.
    #[error("{browser} cannot be started: {source}")]
    Start {
        /// Which.
        browser: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// The browser's sandbox cannot be set up.
    #[error(
        "the sandbox of {browser} refuses to start: {said}; --no-sandbox goes without, and the run says so"
    )]
    Sandbox {
        /// Which.
        browser: &'static str,
        /// Its own words.
        said: String,
    },
    /// The browser has ended.
    #[error("{browser} ended while it was to {doing}{said}")]
    Ended {
        /// Which.
        browser: &'static str,
        /// What it was doing.
        doing: String,
        /// Its last words, after a colon.
        said: String,
    },
    /// The browser did not answer in time.
    #[error("{browser} did not {doing} within the time limit")]
    Hung {
        /// Which.
        browser: &'static str,
        /// What it was doing.
        doing: String,
    },
    /// The browser answered something else than was asked.
    #[error("{browser}: {what}")]
    Answer {
        /// Which.
        browser: &'static str,
        /// What is wrong with it.
        what: String,
    },
    /// Nobody waits any more.
    #[error("stopped")]
    Stopped,
}

impl BrowserError {
    /// As the failure of a visit.
    pub fn failure(&self) -> Failure {
        let (class, reason) = match self {
            Self::Hung { .. } => (FailureClass::Timeout, FailureReason::In(Phase::Total)),
            Self::Ended { .. } => (FailureClass::Worker, FailureWord::Died.into()),
            Self::Answer { .. } => (FailureClass::Worker, FailureWord::Nonsense.into()),
            _ => (FailureClass::Worker, FailureWord::Start.into()),
        };
        Failure {
            class,
            reason,
            detail: netbench_model::sanitize(&self.to_string()),
            phase: None,
            after_ns: None,
        }
    }
}

/// What became of a wait.
#[derive(Debug)]
pub(crate) enum Unanswered {
    /// The browser is gone.
    Ended,
    /// The time limit passed.
    Late,
    /// Nobody waits any more.
    Stopped,
    /// It was refused.
    Refused(String),
}
