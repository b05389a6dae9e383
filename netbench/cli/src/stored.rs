//! Runs in their folders, opened for reading: what is wrong with a folder is for the user to mend, and exits
//! with 2.

use std::path::Path;

use netbench_model::{Kind, Manifest, Plan};
use netbench_store::{RunFolder, StoreError};

use crate::{exit::WrongInput, kinds::Listed};

pub(crate) fn open<P: Plan>(path: &Path) -> anyhow::Result<(RunFolder, Manifest<P>)> {
    let folder = RunFolder::open(path).map_err(wrong)?;
    let manifest = folder.manifest().map_err(wrong)?;
    Ok((folder, manifest))
}

/// What kind of run a folder has.
pub(crate) fn kind(path: &Path) -> anyhow::Result<Kind> {
    RunFolder::open(path)
        .and_then(|folder| folder.kind())
        .map_err(wrong)
}

/// Reads a run of one kind, and its records.
pub(crate) fn read<P: Listed>(
    path: &Path,
) -> anyhow::Result<(RunFolder, Manifest<P>, Vec<P::Record>)> {
    let (folder, manifest) = open(path)?;
    let records = folder.records().map_err(wrong)?;
    Ok((folder, manifest, records))
}

/// An error in a run's folder, unless it is the machine's.
pub(crate) fn wrong(error: StoreError) -> anyhow::Error {
    match error {
        StoreError::Io { .. } | StoreError::Full(_) => anyhow::Error::new(error),
        error => WrongInput(error.to_string()).into(),
    }
}
