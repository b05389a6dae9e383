use std::{io, path::PathBuf, time::Duration};

/// What can go wrong with the runner; what goes wrong in a test is a [`crate::TestResult`].
#[derive(Debug, thiserror::Error)]
pub enum BogoError {
    /// A program that is needed is not there.
    #[error("{tool} was not found; {needed_for} needs it ({hint})")]
    NoTool {
        /// The program.
        tool: &'static str,
        /// What needs it.
        needed_for: &'static str,
        /// How to get it.
        hint: &'static str,
    },
    /// Go is there, and cannot get the toolchain that the runner asks for.
    #[error(
        "Go cannot build the runner, which needs the toolchain that BoringSSL's go.mod names: {said}. \
         Go fetches it by itself (GOTOOLCHAIN=auto) where it can reach its module proxy; a newer Go does too"
    )]
    GoToolchain {
        /// What Go said.
        said: String,
    },
    /// It was stopped.
    #[error("stopped")]
    Stopped,
    /// A step of building failed.
    #[error("{step} failed: {said}")]
    Build {
        /// The step.
        step: String,
        /// The end of what it said.
        said: String,
    },
    /// A step of building took too long.
    #[error("{step} took longer than {} s", limit.as_secs())]
    TooSlow {
        /// The step.
        step: String,
        /// How long it was given.
        limit: Duration,
    },
    /// The runner ended without results.
    #[error("the runner died ({status}) while it ran {shim}: {said}")]
    RunnerDied {
        /// How it ended.
        status: String,
        /// The shim.
        shim: String,
        /// The end of what it said.
        said: String,
    },
    /// The runner printed nothing for too long.
    #[error(
        "the runner printed nothing for {} s while it ran {shim}, and was killed; the last test that it \
         finished was {last}", quiet.as_secs()
    )]
    RunnerStuck {
        /// The shim.
        shim: String,
        /// For how long.
        quiet: Duration,
        /// The test before.
        last: String,
    },
    /// No test has a name that matches.
    #[error("no test of the runner matches {glob:?}")]
    NoTests {
        /// The pattern.
        glob: String,
    },
    /// A pattern of the names of tests is none.
    #[error("{pattern:?} is not a pattern of test names: {why}")]
    BadPattern {
        /// The pattern.
        pattern: String,
        /// What is wrong with it.
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
        /// Where they would be.
        path: PathBuf,
    },
    /// Stored outcomes are of another runner than the others.
    #[error(
        "{}: of another runner than the others ({runner}); `netbench bogo --accept` stores new outcomes",
        path.display()
    )]
    OtherRunner {
        /// The file.
        path: PathBuf,
        /// Its runner.
        runner: String,
    },
    /// No shim was named.
    #[error("no shim was named")]
    NoShimNamed,
    /// A shim does not start, or does not answer as a shim.
    #[error("{} does not start: {why}", program.display())]
    NoShim {
        /// The program.
        program: PathBuf,
        /// Why.
        why: String,
    },
    /// A file is not what it should be.
    #[error("{}: {why}", path.display())]
    BadFile {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// A file cannot be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

impl BogoError {
    pub(crate) fn io(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { path, source }
    }

    pub(crate) fn bad(path: impl Into<PathBuf>, why: impl ToString) -> Self {
        Self::BadFile {
            path: path.into(),
            why: why.to_string(),
        }
    }
}
