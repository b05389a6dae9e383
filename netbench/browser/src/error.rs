use std::io;

use netbench_model::{Failure, FailureClass, FailureReason, FailureWord, Phase};

/// An error of a browser, other than one that the browser's own error page shows.
#[derive(Debug, thiserror::Error)]
pub enum BrowserError {
    /// A program is not installed.
    #[error("{what} is not installed: {help}")]
    Missing {
        /// The program.
        what: String,
        /// A remedy.
        help: String,
    },
    /// A program is installed, but cannot be used.
    #[error("{what} cannot be used: {why}")]
    Unusable {
        /// The program.
        what: String,
        /// The reason.
        why: String,
    },
    /// This step of making the profile failed.
    #[error("cannot make a profile: {0}: {1}")]
    Profile(String, #[source] io::Error),
    /// The browser with this name cannot be started.
    #[error("{0} cannot be started: {1}")]
    Start(&'static str, #[source] io::Error),
    /// The browser's sandbox cannot be set up.
    #[error(
        "the sandbox of {browser} refuses to start: {said}; --no-sandbox runs it without one, which is recorded"
    )]
    Sandbox {
        /// The browser.
        browser: &'static str,
        /// The browser's message.
        said: String,
    },
    /// The browser has ended.
    #[error("{browser} ended while it was to {doing}{said}")]
    Ended {
        /// The browser.
        browser: &'static str,
        /// The action during which it ended.
        doing: String,
        /// The browser's last message, after a colon.
        said: String,
    },
    /// The browser did not answer in time.
    #[error("{browser} did not {doing} within the time limit")]
    Hung {
        /// The browser.
        browser: &'static str,
        /// The action that it did not complete.
        doing: String,
    },
    /// The browser sent an unexpected answer.
    #[error("{browser}: {what}")]
    Answer {
        /// The browser.
        browser: &'static str,
        /// The fault of the answer.
        what: String,
    },
    /// The visit was stopped.
    #[error("stopped")]
    Stopped,
}

impl BrowserError {
    pub(crate) fn missing(what: impl Into<String>, help: impl Into<String>) -> Self {
        let (what, help) = (what.into(), help.into());
        Self::Missing { what, help }
    }

    pub(crate) fn unusable(what: impl Into<String>, why: impl Into<String>) -> Self {
        let (what, why) = (what.into(), why.into());
        Self::Unusable { what, why }
    }

    /// Returns a function that makes the error of a step of making the profile.
    pub(crate) fn profile(what: impl Into<String>) -> impl Fn(io::Error) -> Self {
        let what = what.into();
        move |source| Self::Profile(what.clone(), source)
    }

    /// Returns a function that makes the error of a browser that cannot be started.
    pub(crate) fn start(browser: &'static str) -> impl Fn(io::Error) -> Self {
        move |source| Self::Start(browser, source)
    }

    /// Returns a function that makes the error of an answer.
    pub(crate) fn answer(browser: &'static str) -> impl Fn(String) -> Self {
        move |what| Self::Answer { browser, what }
    }

    /// Returns the error as the failure of a visit.
    pub fn failure(&self) -> Failure {
        let (class, reason) = match self {
            Self::Hung { .. } => (FailureClass::Timeout, FailureReason::In(Phase::Total)),
            Self::Ended { .. } => (FailureClass::Worker, FailureWord::Died.into()),
            Self::Answer { .. } => (FailureClass::Worker, FailureWord::Nonsense.into()),
            _ => (FailureClass::Worker, FailureWord::Start.into()),
        };
        Failure::new(class, reason, netbench_model::sanitize(&self.to_string()))
    }
}

/// The result of a wait without an answer.
#[derive(Debug)]
pub(crate) enum Unanswered {
    /// The browser has ended.
    Ended,
    /// The time limit passed.
    Late,
    /// The wait was stopped.
    Stopped,
    /// The request was refused.
    Refused(String),
}
