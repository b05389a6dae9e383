use std::{
    fs::{self, DirEntry},
    path::{Path, PathBuf},
};

use anyhow::Context;
use netbench_report::RunRow;
use netbench_store::RunFolder;

use crate::{exit::bail_input, kinds};

pub(super) struct Entry {
    pub(super) path: PathBuf,
    pub(super) row: RunRow,
}

/// Returns every folder in a folder of runs, including those that are no runs, but not following
/// links.
pub(super) fn entries(folder: &Path) -> anyhow::Result<Vec<Entry>> {
    if !folder.is_dir() {
        bail_input!("{}: no such folder of runs", folder.display());
    }
    if folder.join("run.json").is_file() {
        bail_input!(
            "{}: a run, not a folder of runs; `netbench runs show` shows it",
            folder.display()
        );
    }
    let mut found = Vec::new();
    for entry in in_folder(folder)? {
        if is_folder(&entry.path()) {
            found.push(read(entry.path()));
        }
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(found)
}

pub(super) fn in_folder(folder: &Path) -> anyhow::Result<Vec<DirEntry>> {
    fs::read_dir(folder)
        .and_then(Iterator::collect)
        .with_context(|| format!("cannot read {}", folder.display()))
}

/// Returns whether a path is a folder, and not a link to one.
pub(super) fn is_folder(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|data| data.is_dir())
}

fn read(path: PathBuf) -> Entry {
    let row = row(&path).unwrap_or_else(|error| RunRow {
        problem: Some(error.to_string()),
        ..RunRow::default()
    });
    let row = RunRow {
        path: path.display().to_string(),
        bytes: size_bytes(&path),
        ..row
    };
    Entry { path, row }
}

fn row(path: &Path) -> anyhow::Result<RunRow> {
    let folder = RunFolder::open(path)?;
    Ok((kinds::of(&folder)?.list)(&folder)?)
}

/// Returns the size of all files in a folder; unreadable files count as 0.
pub(crate) fn size_bytes(path: &Path) -> u64 {
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    let sizes = entries.map(|entry| match entry.metadata() {
        Ok(data) if data.is_dir() => size_bytes(&entry.path()),
        Ok(data) => data.len(),
        Err(_) => 0,
    });
    sizes.sum()
}
