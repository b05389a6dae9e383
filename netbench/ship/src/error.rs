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
        /// What was to be run.
        program: PathBuf,
        /// Why it cannot be.
        source: io::Error,
    },
    /// A file or a folder.
    #[error("{path}: {source}")]
    File {
        /// Which.
        path: PathBuf,
        /// What happened.
        source: io::Error,
    },
    /// cargo, or what it built, failed.
    #[error("{what}: {said}")]
    Failed {
        /// What was tried.
        what: &'static str,
        /// The end of what was said.
        said: String,
    },
    /// The program has two providers of cryptography, and does not start.
    #[error(
        "its client ends at its start, because rustls has the features of {} in it: ClientConfig::builder() panics unless \
         CryptoProvider::install_default() was called before ({said})",
        providers.join(" and ")
    )]
    Providers {
        /// Which.
        providers: Vec<String>,
        /// The end of what was said.
        said: String,
    },
    /// It was asked to stop.
    #[error("stopped")]
    Stopped,
}

impl ShipError {
    pub(crate) fn file(path: &std::path::Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::File { path, source }
    }
}
