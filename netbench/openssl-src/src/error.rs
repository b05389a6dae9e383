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
        /// The end of the output.
        output: String,
        /// The file with the whole output.
        log: Option<PathBuf>,
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
        Self::Failed {
            command: command.to_owned(),
            output: lines[lines.len().saturating_sub(QUOTED_LINES)..].join("\n"),
            log: Some(log.to_owned()),
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
            Self::Failed {
                command,
                output,
                log: Some(log),
            } => write!(
                f,
                "{command} failed; its log is {}\n{output}",
                log.display()
            ),
            Self::Failed {
                command, output, ..
            } => write!(f, "{command} failed:\n{output}"),
        }
    }
}
