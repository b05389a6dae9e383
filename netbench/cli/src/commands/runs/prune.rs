use std::{
    fs,
    io::{self, IsTerminal, stdin},
    path::Path,
    time::Duration,
};

use anyhow::Context;
use jiff::Timestamp;
use netbench_model::sanitize;
use netbench_report::count;
use netbench_store::RunFolder;

use super::{
    args::Prune,
    list::{self, Entry, in_folder, is_folder},
};
use crate::{
    exit::{Ended, bail_input},
    kinds::{self, kind::Holds},
    output,
};

/// Removes the runs that are neither among the newest nor young.
pub(super) fn prune(options: &Prune) -> anyhow::Result<Ended> {
    let (old, mut said) = old_runs(&options.folders, options)?;
    let mut removable = Vec::new();
    for entry in old {
        match obstacle(&entry.path)? {
            Some(why) => {
                said.push_str(&format!(
                    "left alone: {}: {why}\n",
                    sanitize(&entry.row.path)
                ));
            }
            None => removable.push(entry),
        }
    }
    let word = if options.dry_run {
        "would be removed"
    } else {
        "to remove"
    };
    for entry in &removable {
        said.push_str(&format!("{word}: {}\n", sanitize(&entry.row.path)));
    }
    if removable.is_empty() {
        said.push_str("nothing to remove\n");
    }
    output::write(said.as_bytes())?;
    if options.dry_run || removable.is_empty() {
        return Ok(Ended::Well);
    }
    if !options.yes && !agreed(removable.len())? {
        return Ok(Ended::Well);
    }
    for entry in &removable {
        remove(&entry.path)?;
    }
    output::write(format!("{} removed\n", count(removable.len(), "run", "runs")).as_bytes())?;
    Ok(Ended::Well)
}

/// Returns the runs in folders that are neither among the newest to keep nor too young, and lines about the damaged runs
/// there.
pub(super) fn old_runs(
    folders: &[impl AsRef<Path>],
    options: &Prune,
) -> anyhow::Result<(Vec<Entry>, String)> {
    let mut entries = Vec::new();
    for folder in folders {
        entries.extend(list::entries(folder.as_ref())?);
    }
    let (mut runs, damaged): (Vec<Entry>, Vec<Entry>) = entries
        .into_iter()
        .partition(|entry| entry.row.problem.is_none());
    runs.sort_by(|a, b| b.row.started.cmp(&a.row.started));
    let old = runs
        .into_iter()
        .skip(options.keep.unwrap_or(0))
        .filter(|entry| is_old(entry, options.older_than));
    let damaged = damaged.iter().map(|entry| {
        let why = entry.row.problem.as_deref().unwrap_or_default();
        format!("left alone: {}\n", sanitize(why))
    });
    Ok((old.collect(), damaged.collect()))
}

fn is_old(entry: &Entry, days: Option<u32>) -> bool {
    let Some(days) = days else {
        return true;
    };
    let age = Duration::from_secs(u64::from(days) * 86_400);
    let Ok(started) = entry.row.started.parse::<Timestamp>() else {
        return false;
    };
    Timestamp::now().duration_since(started).unsigned_abs() > age && started < Timestamp::now()
}

/// Returns the reason why a run must stay: it is being measured, or it contains files that netbench did not make.
fn obstacle(path: &Path) -> anyhow::Result<Option<String>> {
    let folder = RunFolder::open(path)?;
    let in_use = Ok(Some("it is being measured".to_owned()));
    if folder.is_in_use()? {
        return in_use;
    }
    let holds = kinds::of(&folder)?.holds;
    if holds == Holds::Runs && may_be_under_way(&folder)? {
        return in_use;
    }
    let mut foreign = Vec::new();
    for name in names(path)? {
        if holds == Holds::Runs && is_folder(&path.join(&name)) {
            if let Some(why) = obstacle_in_part(&path.join(&name))? {
                return Ok(Some(format!("{}: {why}", sanitize(&name))));
            }
        } else if !is_ours(path, &name, holds) {
            foreign.push(name);
        }
    }
    Ok((!foreign.is_empty()).then(|| format!("it has {} in it", sanitize(&foreign.join(", ")))))
}

/// Returns the reason why the folder of a part of an evaluation must stay. Such a folder holds the part's output, and
/// runs.
fn obstacle_in_part(path: &Path) -> anyhow::Result<Option<String>> {
    for name in names(path)? {
        let inside = path.join(&name);
        let why = if !is_folder(&inside) {
            let printed = name.strip_suffix(".json").or(name.strip_suffix(".part"));
            let ours = printed.is_some() && !inside.is_symlink();
            (!ours).then(|| format!("it has {} in it", sanitize(&name)))
        } else if inside.join("run.json").is_file() {
            obstacle(&inside)?
        } else {
            obstacle_in_part(&inside)?
        };
        if why.is_some() {
            return Ok(why);
        }
    }
    Ok(None)
}

/// Returns whether an evaluation may be running. No lock is held between two parts, so that an evaluation that was
/// begun in the last day and has not ended may continue.
fn may_be_under_way(folder: &RunFolder) -> anyhow::Result<bool> {
    let manifest = folder.head()?;
    let begun = manifest.started.parse::<Timestamp>();
    let young = begun.is_ok_and(|begun| {
        Timestamp::now().duration_since(begun).unsigned_abs() < Duration::from_secs(86_400)
    });
    Ok(manifest.finished.is_none() && young)
}

/// Returns whether a file belongs to a run, by its name; a folder or a link does not.
fn is_ours(path: &Path, name: &str, holds: Holds) -> bool {
    let whole = name.strip_suffix(".part").unwrap_or(name);
    let plain = whole.strip_suffix(".zst").unwrap_or(whole);
    let ours = ["run.json", "samples.jsonl", "scan.jsonl"].contains(&plain)
        || matches!(holds, Holds::Files(names) if names.contains(&whole))
        || whole.starts_with("summary.")
        || whole.starts_with("report.");
    ours && fs::symlink_metadata(path.join(name)).is_ok_and(|data| data.is_file())
}

fn names(path: &Path) -> anyhow::Result<Vec<String>> {
    let entries = in_folder(path)?.into_iter();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    Ok(names.collect())
}

/// Removes a run, with its manifest last: an interrupted removal leaves a run that can be pruned again.
fn remove(path: &Path) -> anyhow::Result<()> {
    let holds = kinds::of(&RunFolder::open(path)?)?.holds;
    let mut names = names(path)?;
    names.sort_by_key(|name| name == "run.json");
    remove_files(path, &names, holds).with_context(|| format!("cannot remove {}", path.display()))
}

fn remove_files(path: &Path, names: &[String], holds: Holds) -> io::Result<()> {
    for name in names {
        let inside = path.join(name);
        if is_folder(&inside) {
            // Only an evaluation has folders, whose contents were checked before.
            fs::remove_dir_all(inside)?;
        } else if is_ours(path, name, holds) {
            fs::remove_file(inside)?;
        }
    }
    fs::remove_dir(path)
}

/// Asks for consent on the terminal; without a terminal, `--yes` is required.
fn agreed(runs: usize) -> anyhow::Result<bool> {
    let these = match runs {
        1 => "this run".to_owned(),
        runs => format!("these {runs} runs"),
    };
    if !stdin().is_terminal() {
        bail_input!("nothing was removed: --yes removes {these}");
    }
    output::agrees(&format!("remove {these} for ever?"))
}
