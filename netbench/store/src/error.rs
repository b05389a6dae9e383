use std::{io, path::PathBuf};

use netbench_model::SCHEMA_VERSION;

/// A run folder that cannot be used. Every variant names the file.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// There is no such folder.
    #[error("{0}: no such run folder")]
    Missing(PathBuf),
    /// The folder has no manifest.
    #[error("{0}: no run.json in it, so that it is not a run's folder")]
    NotARun(PathBuf),
    /// A new run was to go where something is.
    #[error("{0}: there is something in it already; a new run needs a new folder")]
    InUse(PathBuf),
    /// Another process is appending to it.
    #[error("{0}: another netbench is measuring into it")]
    Locked(PathBuf),
    /// A file was written by a newer netbench.
    #[error(
        "{path}: schema {found} is newer than this netbench reads ({SCHEMA_VERSION}); use a newer netbench"
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its schema.
        found: u64,
    },
    /// The manifest is cut short, or is not one.
    #[error("{path}: not a manifest: {source}")]
    Manifest {
        /// The file.
        path: PathBuf,
        /// What the parser says.
        source: serde_json::Error,
    },
    /// A line of samples is none.
    #[error("{path}, line {line}: not a sample: {source}")]
    Sample {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What the parser says.
        source: serde_json::Error,
    },
    /// The disk is full.
    #[error("{0}: no space left on the device; what was written before is whole")]
    Full(PathBuf),
    /// Anything else.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
}

impl StoreError {
    pub(crate) fn io(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        |source| match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::Full(path),
            _ => Self::Io { path, source },
        }
    }
}
