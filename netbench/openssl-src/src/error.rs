use std::{
    error::Error,
    fmt, io,
    path::{Path, PathBuf},
};

use crate::RELEASES;

/// Number of lines of a failed build's log that its error quotes.
const QUOTED_LINES: usize = 12;

/// A failure to build OpenSSL.
#[derive(Debug)]
pub enum BuildError {
    /// The build is for another machine.
    Cross {
        /// The requested target.
        target: String,
        /// The host of the build.
        host: String,
    },
    /// A release line without a known release.
    NoRelease(String),
    /// An error of a file or folder.
    Io {
        /// The path.
        path: PathBuf,
        /// The error.
        source: io::Error,
    },
    /// A program that is missing, or that was stopped.
    Start {
        /// The program.
        program: String,
        /// The error.
        source: io::Error,
    },
    /// A program that failed.
    Failed {
        /// The command line.
        command: String,
        /// The path of a log, if there is one, and the end of the output, after the punctuation.
        said: String,
    },
    /// Cargo fetched another package.
    NoSource,
}

impl BuildError {
    pub(crate) fn at(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_path_buf();
        |source| Self::Io { path, source }
    }

    /// Makes the error of a failed program, with the end of its log.
    pub(crate) fn logged(command: &str, log: &Path, said: &str) -> Self {
        let lines: Vec<&str> = said.lines().collect();
        let end = lines[lines.len().saturating_sub(QUOTED_LINES)..].join("\n");
        Self::Failed {
            command: command.to_owned(),
            said: format!("; its log is {}\n{end}", log.display()),
        }
    }
}

impl Error for BuildError {}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cross { target, host } => {
                write!(
                    f,
                    "OpenSSL is built for the machine that builds: not for {target} on {host}"
                )
            }
            Self::NoRelease(asked) => {
                let lines = RELEASES.map(|release| release.line).join(", ");
                write!(f, "there is no OpenSSL {asked} to build, but {lines}")
            }
            Self::Io { path, source } => write!(f, "{}: {source}", path.display()),
            Self::Start { program, source } if source.kind() == io::ErrorKind::NotFound => {
                write!(
                    f,
                    "{program} is not there; OpenSSL needs a C compiler, make and perl"
                )
            }
            Self::Start { program, source } => write!(f, "{program}: {source}"),
            Self::NoSource => write!(f, "Cargo fetched no source of OpenSSL"),
            Self::Failed { command, said } => write!(f, "{command} failed{said}"),
        }
    }
}
