use std::{
    io,
    path::{Path, PathBuf},
};

use openssl_src::BuildError as OpensslError;

/// A defect of a `stack.toml`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("stacks/{folder}/stack.toml:{line}: {message}")]
pub struct FileError {
    /// The folder of the file, below `stacks/`.
    pub folder: String,
    /// The line, counted from 1.
    pub line: usize,
    /// The defect.
    pub message: String,
}

/// A program that was not built or found.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// There is neither the program nor the source tree: the program, its file, and the command that builds it.
    #[error("{0} is missing: there is no {1} beside the command. In a source tree, {2} builds it")]
    Missing(String, String, String),
    /// Requirements of a stack's build are not installed.
    #[error(
        "cannot build {stack}, which needs tools that are not here: {tools}\n\
         on Debian and Ubuntu: apt-get install {packages}"
    )]
    Needs {
        /// The stack.
        stack: String,
        /// The requirements.
        tools: String,
        /// The packages that provide them.
        packages: String,
    },
    /// The compiler of a variant is not installed: the program, and the package that provides it.
    #[error("there is no {0} to build it with\non Debian and Ubuntu: apt-get install {1}")]
    Compiler(String, String),
    /// A program did not start, or was stopped: its command line, and advice, which begins with its punctuation.
    #[error("cannot run `{0}`{1}")]
    Run(String, &'static str, #[source] io::Error),
    /// A program failed, and has printed the reason: its command line and folder.
    #[error("`{0}` failed in {folder}", folder = .1.display())]
    Failed(String, PathBuf),
    /// A program failed, and has a log.
    #[error("`{command}` failed in {}{advice}; its log is {}\n{end}", .folder.display(), .log.display())]
    FailedWithLog {
        /// The command line.
        command: String,
        /// The folder in which it ran.
        folder: PathBuf,
        /// Advice on the failure, which begins with its punctuation.
        advice: String,
        /// The log.
        log: PathBuf,
        /// The end of the log.
        end: String,
    },
    /// A build ended well, but its file does not exist: its command line, and the file.
    #[error("`{0}` ended well, but {file} is not there", file = .1.display())]
    NotMade(String, PathBuf),
    /// This version of OpenSSL was not built.
    #[error("OpenSSL {0} was not built")]
    Openssl(&'static str, #[source] OpensslError),
    /// A manifest of the source tree is not as expected.
    #[error("a Cargo.toml: {0}")]
    Manifest(String),
    /// An error of a file: the attempt, and the file.
    #[error("cannot {0} {file}", file = .1.display())]
    File(&'static str, PathBuf, #[source] io::Error),
    /// Servo's network stack was not patched.
    #[error("Servo with OpenSSL was not built")]
    Servo(#[from] crate::PatchError),
    /// The user has no cache folder.
    #[error("no cache folder: neither XDG_CACHE_HOME nor HOME is set")]
    NoCache,
}

impl BuildError {
    pub(crate) fn file(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_path_buf();
        move |source| Self::File(action, path, source)
    }
}
