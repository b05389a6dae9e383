use std::{
    error::Error,
    fmt, io,
    path::{Path, PathBuf},
};

use crate::RELEASES;

/// Lines of a failed build's log that its error quotes.
const QUOTED_LINES: usize = 12;

/// OpenSSL was not built.
#[derive(Debug)]
pub enum BuildError {
    /// For another machine.
    Cross {
        /// The machine that was asked for.
        target: String,
        /// The one that builds.
        host: String,
    },
    /// A line of which there is no release here.
    NoRelease(String),
    /// A file or folder.
    Io {
        /// Which.
        path: PathBuf,
        /// What happened.
        source: io::Error,
    },
    /// A program that is missing, or that was stopped.
    Start {
        /// Which.
        program: String,
        /// What happened.
        source: io::Error,
    },
    /// A program that failed.
    Failed {
        /// Its call.
        command: String,
        /// What it said, or the end of that.
        output: String,
        /// The file that has all that it said.
        log: Option<PathBuf>,
    },
    /// Cargo fetched something else.
    NoSource,
}

impl BuildError {
    pub(crate) fn at(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_path_buf();
        |source| Self::Io { path, source }
    }

    /// A program that failed, with the end of its log.
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
