use std::{io, path::PathBuf};

/// A client that was not built.
#[derive(Debug, thiserror::Error)]
pub enum ShipError {
    /// There is no cargo.
    #[error(
        "cannot run {program:?} ({source}): `netbench ship` builds with the cargo in the PATH, or the one that CARGO \
         names (https://rustup.rs)"
    )]
    NoCargo {
        /// The program that was to be run.
        program: PathBuf,
        /// The reason why it cannot be run.
        source: io::Error,
    },
    /// A file or a folder.
    #[error("{path}: {source}")]
    File {
        /// The path.
        path: PathBuf,
        /// The error.
        source: io::Error,
    },
    /// A failure of cargo, or of the program that it built.
    #[error("{what}: {said}")]
    Failed {
        /// The failed step.
        what: &'static str,
        /// The end of the program's output.
        said: String,
    },
    /// A program that has two cryptography providers, and does not start.
    #[error(
        "its client ends at its start, because rustls has the features of {} in it: ClientConfig::builder() panics unless \
         CryptoProvider::install_default() was called before ({said})",
        providers.join(" and ")
    )]
    Providers {
        /// The names of the providers.
        providers: Vec<String>,
        /// The end of the program's output.
        said: String,
    },
    /// The build was stopped on request.
    #[error("stopped")]
    Stopped,
}

impl ShipError {
    pub(crate) fn file(path: &std::path::Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::File { path, source }
    }
}
