//! Stored runs, opened for reading. The user has to correct a defective folder, so that such errors exit with 2.

use std::path::Path;

use netbench_model::{Kind, Manifest, Plan, Recorded, StackName};
use netbench_report::count;
use netbench_store::{RunFolder, StoreError};

use crate::{exit::WrongInput, pipeline::Listed, stack_names::is_of_run};

pub(crate) fn open<P: Plan>(path: &Path) -> anyhow::Result<(RunFolder, Manifest<P>)> {
    let folder = RunFolder::open(path).map_err(wrong)?;
    let manifest = folder.manifest().map_err(wrong)?;
    note_repeated(&folder)?;
    Ok((folder, manifest))
}

/// Prints a note on the lines of a run's files that repeat others: each line is counted once.
pub(crate) fn note_repeated(folder: &RunFolder) -> anyhow::Result<()> {
    for repeated in folder.repeated().map_err(wrong)? {
        let (path, first) = (repeated.path.display(), repeated.first);
        let lines = count(repeated.lines, "line repeats", "lines repeat");
        note!(
            "netbench: {path}: {lines} another one, the first is line {first}; each sample is counted once. Delete \
             what was appended twice, or restore the file"
        );
    }
    Ok(())
}

pub(crate) fn kind(path: &Path) -> anyhow::Result<Kind> {
    RunFolder::open(path)
        .and_then(|folder| folder.kind())
        .map_err(wrong)
}

/// Reads a run of one kind, with its records.
pub(crate) fn read<P: Recorded>(path: &Path) -> anyhow::Result<(Manifest<P>, Vec<P::Record>)> {
    contents(&open::<P>(path)?.0)
}

/// Reads a run of one kind that must have these stacks.
pub(crate) fn read_with<'a, P: Listed>(
    path: &Path,
    stacks: impl IntoIterator<Item = &'a StackName>,
) -> anyhow::Result<(Manifest<P>, Vec<P::Record>)> {
    let (manifest, records) = read::<P>(path)?;
    for stack in stacks {
        is_of_run(stack, manifest.plan.stacks())?;
    }
    Ok((manifest, records))
}

pub(crate) fn contents<P: Recorded>(
    folder: &RunFolder,
) -> anyhow::Result<(Manifest<P>, Vec<P::Record>)> {
    let manifest = folder.manifest().map_err(wrong)?;
    Ok((manifest, folder.records().map_err(wrong)?))
}

/// Converts an error in a run's folder into wrong input, unless the machine causes the error.
pub(crate) fn wrong(error: StoreError) -> anyhow::Error {
    match error {
        StoreError::Io { .. } | StoreError::Full(_) => anyhow::Error::new(error),
        error => WrongInput(error.to_string()).into(),
    }
}
