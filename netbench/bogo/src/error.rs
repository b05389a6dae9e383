use std::{io, path::PathBuf, time::Duration};

use crate::command::Tool;

/// An error of the runner; a failure in a test is a [`crate::TestResult`].
#[derive(Debug, thiserror::Error)]
pub enum BogoError {
    /// A required program is missing.
    #[error("{} was not found; {} needs it ({})", .0.name, .0.needed_for, .0.hint)]
    NoTool(Tool),
    /// Go is installed, and cannot get the toolchain that the runner requires.
    #[error(
        "Go cannot build the runner, which needs the toolchain that BoringSSL's go.mod names: {said}. \
         Go fetches it by itself (GOTOOLCHAIN=auto) where it can reach its module proxy; a newer Go does too"
    )]
    GoToolchain {
        /// Go's message.
        said: String,
    },
    /// The command was stopped.
    #[error("stopped")]
    Stopped,
    /// A step of building failed.
    #[error("{step} failed: {said}")]
    Build {
        /// The step.
        step: String,
        /// The end of its output.
        said: String,
    },
    /// A step of building took too long.
    #[error("{step} took longer than {} s", limit.as_secs())]
    TooSlow {
        /// The step.
        step: String,
        /// The time limit.
        limit: Duration,
    },
    /// The runner ended without results.
    #[error("the runner died ({status}) while it ran {shim}: {said}")]
    RunnerDied {
        /// The exit status.
        status: String,
        /// The shim.
        shim: String,
        /// The end of its output.
        said: String,
    },
    /// The runner printed no line for too long.
    #[error(
        "the runner printed nothing for {} s while it ran {shim}, and was killed; the last test that it \
         finished was {last}", quiet.as_secs()
    )]
    RunnerStuck {
        /// The shim.
        shim: String,
        /// The time without output.
        quiet: Duration,
        /// The last test that ended.
        last: String,
    },
    /// No test has a name that matches.
    #[error("no test of the runner matches {glob:?}")]
    NoTests {
        /// The pattern.
        glob: String,
    },
    /// A pattern of test names is invalid.
    #[error("{pattern:?} is not a pattern of test names: {why}")]
    BadPattern {
        /// The pattern.
        pattern: String,
        /// The reason.
        why: String,
    },
    /// The source tree has no outcomes of a shim.
    #[error(
        "there are no stored outcomes of {shim} in {}; `netbench bogo --shim {shim} --accept` stores them",
        path.display()
    )]
    NotStored {
        /// The shim.
        shim: &'static str,
        /// The path of the missing outcomes.
        path: PathBuf,
    },
    /// Stored outcomes belong to another runner than the others.
    #[error(
        "{}: of another runner than the others ({runner}); `netbench bogo --accept` stores new outcomes",
        path.display()
    )]
    OtherRunner {
        /// The file.
        path: PathBuf,
        /// The runner of the file.
        runner: String,
    },
    /// No shim was named.
    #[error("no shim was named")]
    NoShimNamed,
    /// A shim does not start, or does not behave as a shim.
    #[error("{} does not start: {why}", program.display())]
    NoShim {
        /// The program.
        program: PathBuf,
        /// The reason.
        why: String,
    },
    /// A file has an unexpected content.
    #[error("{}: {why}", path.display())]
    BadFile {
        /// The file.
        path: PathBuf,
        /// The reason.
        why: String,
    },
    /// A file cannot be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
}

impl BogoError {
    pub(crate) fn io(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { path, source }
    }

    /// Makes the error of a step of building with its message.
    pub(crate) fn build(step: &str, said: impl ToString) -> Self {
        Self::Build {
            step: step.to_owned(),
            said: said.to_string(),
        }
    }

    pub(crate) fn bad(path: impl Into<PathBuf>, why: impl ToString) -> Self {
        Self::BadFile {
            path: path.into(),
            why: why.to_string(),
        }
    }
}
