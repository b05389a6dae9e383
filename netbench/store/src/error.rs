use std::{
    io,
    path::{Path, PathBuf},
};

use netbench_model::{Kind, SCHEMA_VERSION};

/// An error of a run folder. Every variant names the file.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The folder does not exist.
    #[error("{0}: no such run folder")]
    Missing(PathBuf),
    /// The folder has no manifest.
    #[error("{0}: not a run: the folder has no run.json")]
    NotARun(PathBuf),
    /// The folder of a new run is not empty.
    #[error("{0}: the folder is not empty; a new run needs a new one")]
    InUse(PathBuf),
    /// Another process is appending to the run.
    #[error("{0}: another netbench process is writing to it")]
    Locked(PathBuf),
    /// The run is packed, so no records can be appended.
    #[error(
        "{0}: the run is packed, so nothing can be added to it; `zstd -d --rm` unpacks the file"
    )]
    Packed(PathBuf),
    /// A folder, pipe or device has the name of a file of the run; a pipe or a device may have no end.
    #[error("{0}: not a file; restore the file from a copy of the run")]
    NotAFile(PathBuf),
    /// A packed file does not read back.
    #[error("{path}: not a whole zstd file: {source}")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The error of the decoder.
        source: io::Error,
    },
    /// The run is of another kind than required.
    #[error("{path}: a run of kind {found}, where one of {wanted} is needed")]
    OtherKind {
        /// The folder.
        path: PathBuf,
        /// The kind of the run.
        found: Kind,
        /// The required kind.
        wanted: Kind,
    },
    /// The file was written by a newer netbench.
    #[error(
        "{path}: schema {found} is newer than this netbench reads ({SCHEMA_VERSION}); use a newer netbench"
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// The schema of the file.
        found: u64,
    },
    /// The manifest is truncated or not a manifest.
    #[error("{path}: not a manifest: {source}")]
    Manifest {
        /// The file.
        path: PathBuf,
        /// The error of the parser.
        source: serde_json::Error,
    },
    /// A line of samples is not a sample.
    #[error("{path}, line {line}: not a sample: {source}; without this line the run can be read")]
    Sample {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The error of the parser.
        source: serde_json::Error,
    },
    /// The disk is full.
    #[error("{0}: no space left on the device; what was written before is whole")]
    Full(PathBuf),
    /// Any other error.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
}

impl StoreError {
    pub(crate) fn io(path: impl Into<PathBuf>) -> impl Fn(io::Error) -> Self {
        let path = path.into();
        move |source| {
            let path = path.clone();
            match source.kind() {
                io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::Full(path),
                _ => Self::Io { path, source },
            }
        }
    }

    /// Converts an error in reading a packed file, which is either of the system or of the decoder.
    pub(crate) fn unpacking(path: &Path) -> impl Fn(io::Error) -> Self {
        let system = Self::io(path);
        move |source| match source.raw_os_error() {
            Some(_) => system(source),
            None => Self::Damaged {
                path: path.to_owned(),
                source,
            },
        }
    }
}
