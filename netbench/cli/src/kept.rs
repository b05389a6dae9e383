//! Runs that are kept, opened for reading: what is wrong with a folder is the user's to mend, and exits
//! with 2.

use std::path::Path;

use netbench_model::{Manifest, Sample};
use netbench_store::{RunFolder, RunKind, StoreError};

use crate::exit::WrongInput;

/// Opens a run of `connect`, for the command `who`.
pub(crate) fn connect_run(
    path: &Path,
    who: &str,
) -> anyhow::Result<(RunFolder, Manifest, Vec<Sample>)> {
    let folder = RunFolder::open(path).map_err(wrong)?;
    if folder.kind().map_err(wrong)? != RunKind::Connect {
        let why = format!(
            "{}: not a run of connect, which {who} is for",
            path.display()
        );
        return Err(WrongInput(why).into());
    }
    let manifest = folder.manifest().map_err(wrong)?;
    let samples = folder.samples().map_err(wrong)?;
    Ok((folder, manifest, samples))
}

/// An error in a run's folder, unless it is the machine's.
pub(crate) fn wrong(error: StoreError) -> anyhow::Error {
    match error {
        StoreError::Io { .. } | StoreError::Full(_) => anyhow::Error::new(error),
        error => WrongInput(error.to_string()).into(),
    }
}
