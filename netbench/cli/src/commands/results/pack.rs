use std::path::{Path, PathBuf};

use anyhow::Context;
use netbench_report::count;
use netbench_store::{Packed, RunFolder};

use crate::{
    exit::{Ended, WrongInput},
    kinds::{self, Holds, StoredRun},
    output,
    stored::wrong,
};

pub(super) fn pack(runs: &[PathBuf]) -> anyhow::Result<Ended> {
    let mut folders = Vec::new();
    for path in runs {
        collect(path, &mut folders)?;
    }
    let mut all = Packed::default();
    for folder in &folders {
        // A run that is unreadable before packing stays unreadable afterwards.
        StoredRun::read(folder.path())?;
        all += folder.pack().map_err(wrong)?;
    }
    let megabytes = |bytes: u64| bytes as f64 / 1e6;
    let text = format!(
        "{}: {:.1} MB of samples in {:.1} MB\n",
        count(folders.len(), "run", "runs"),
        megabytes(all.plain_bytes),
        megabytes(all.packed_bytes)
    );
    output::write(text.as_bytes())?;
    Ok(Ended::Well)
}

/// Collects the run at `path` and the runs of its parts.
fn collect(path: &Path, folders: &mut Vec<RunFolder>) -> anyhow::Result<()> {
    let folder = RunFolder::open(path).map_err(wrong)?;
    let kind = kinds::of(&folder)?;
    let refused = |why: &str| Err(WrongInput(format!("{}: {why}", path.display())).into());
    if folder.is_in_use()? {
        return refused("it is being measured");
    }
    if folder.head().map_err(wrong)?.finished.is_none() {
        return refused("it was not finished; finish it with --resume first");
    }
    folders.push(folder);
    if kind.holds == Holds::Runs {
        runs_in(path, folders)?;
    }
    Ok(())
}

fn runs_in(path: &Path, folders: &mut Vec<RunFolder>) -> anyhow::Result<()> {
    let cannot = || format!("cannot read {}", path.display());
    for entry in std::fs::read_dir(path).with_context(cannot)? {
        let entry = entry.with_context(cannot)?;
        if !entry.file_type().with_context(cannot)?.is_dir() {
            continue;
        }
        if entry.path().join("run.json").is_file() {
            collect(&entry.path(), folders)?;
        } else {
            runs_in(&entry.path(), folders)?;
        }
    }
    Ok(())
}
