use std::path::Path;

use netbench_model::sanitize;
use netbench_report::count;
use netbench_store::{Packed, RunFolder};

use super::{
    args::Prune,
    list::{in_folder, is_folder},
    prune::old_runs,
};
use crate::{
    exit::{Ended, bail_input},
    kinds::{self, kind::Holds},
    output,
    stored::wrong,
};

/// Compresses the samples of runs that are named, and those of the finished runs in folders.
pub(super) fn compress(options: &Prune) -> anyhow::Result<Ended> {
    let (runs, places): (Vec<_>, Vec<_>) = options
        .folders
        .iter()
        .partition(|path| path.join("run.json").is_file());
    let mut folders = Vec::new();
    for run in runs {
        if let Some(why) = collect(run, &mut folders)? {
            bail_input!("{}: {why}", run.display());
        }
    }
    let mut text = String::new();
    if !places.is_empty() {
        let (old, damaged) = old_runs(&places, options)?;
        text.push_str(&damaged);
        for run in old {
            if let Some(why) = collect(&run.path, &mut folders)? {
                text.push_str(&format!("left alone: {}: {why}\n", sanitize(&run.row.path)));
            }
        }
    }
    if options.dry_run {
        for folder in &folders {
            let path = folder.path().display().to_string();
            text.push_str(&format!("would be compressed: {}\n", sanitize(&path)));
        }
    } else {
        text.push_str(&pack(&folders)?);
    }
    output::write(text.as_bytes())?;
    Ok(Ended::Well)
}

fn pack(folders: &[RunFolder]) -> anyhow::Result<String> {
    let mut all = Packed::default();
    for folder in folders {
        // A run that is unreadable before packing stays unreadable afterwards.
        kinds::read(folder.path())?;
        all += folder.pack().map_err(wrong)?;
    }
    Ok(format!(
        "{}: {:.1} MB of samples in {:.1} MB\n",
        count(folders.len(), "run", "runs"),
        all.plain_bytes as f64 / 1e6,
        all.packed_bytes as f64 / 1e6
    ))
}

/// Collects the run at `path` and the runs of its parts. Returns the reason if it cannot be compressed now.
fn collect(path: &Path, folders: &mut Vec<RunFolder>) -> anyhow::Result<Option<&'static str>> {
    let folder = RunFolder::open(path).map_err(wrong)?;
    let kind = kinds::of(&folder)?;
    if folder.is_in_use()? {
        return Ok(Some("it is being measured"));
    }
    if folder.head().map_err(wrong)?.finished.is_none() {
        return Ok(Some("it was not finished; `netbench run` finishes it"));
    }
    folders.push(folder);
    match kind.holds {
        Holds::Runs => collect_in(path, folders),
        Holds::Files(_) => Ok(None),
    }
}

fn collect_in(path: &Path, folders: &mut Vec<RunFolder>) -> anyhow::Result<Option<&'static str>> {
    for entry in in_folder(path)? {
        if !is_folder(&entry.path()) {
            continue;
        }
        let why = if entry.path().join("run.json").is_file() {
            collect(&entry.path(), folders)?
        } else {
            collect_in(&entry.path(), folders)?
        };
        if why.is_some() {
            return Ok(why);
        }
    }
    Ok(None)
}
