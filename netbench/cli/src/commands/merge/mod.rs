//! `netbench merge`: joins runs of `connect`, shards of one plan or whole runs from several machines, or
//! the shards of a scan, into one run that every other command reads.

pub(crate) mod args;
mod groups;
mod join;
mod scans;
mod settings;

use std::path::Path;

use anyhow::Context;
use netbench_model::{Manifest, Origin, Sample};
use netbench_store::{RunFolder, RunKind, StoreError};
use serde::Serialize;

use self::args::Merge;
use super::connect;
use crate::{
    exit::{Ended, WrongInput},
    kept,
};

/// One of the runs to be joined, as it was read.
struct Part {
    /// What the user called it.
    path: String,
    manifest: Manifest,
    samples: Vec<Sample>,
}

/// Joins runs.
pub(crate) fn merge(options: &Merge) -> anyhow::Result<Ended> {
    let gaps = if options.partial {
        groups::Gaps::Allowed
    } else {
        groups::Gaps::Refused
    };
    let kinds: Vec<RunKind> = options
        .runs
        .iter()
        .map(|path| kept::kind(path))
        .collect::<anyhow::Result<_>>()?;
    if kinds.iter().all(|kind| *kind == RunKind::Scan) {
        return scans::merge(options, gaps);
    }
    if let Some(at) = kinds.iter().position(|kind| *kind == RunKind::Scan) {
        let why = format!(
            "{}: a scan, which is joined with scans only",
            options.runs[at].display()
        );
        return Err(WrongInput(why).into());
    }
    let parts: Vec<Part> = options
        .runs
        .iter()
        .map(|path| read(path))
        .collect::<anyhow::Result<_>>()?;
    settings::refuse_mixed(&parts)?;
    let groups = groups::groups(parts, gaps)?;
    let name = name(&options.out)?;
    let (manifest, samples) = join::join(groups, name)?;

    // Until the last sample is in it, the new run says that it is not finished.
    let unfinished = Manifest {
        finished: None,
        ..manifest.clone()
    };
    let folder = create(&options.out, &unfinished)?;
    let mut appender = folder.appender()?;
    for sample in &samples {
        appender
            .append(sample)
            .context("the joined run is not complete; make it again")?;
    }
    folder.write_manifest(&manifest)?;
    connect::publish(&folder, &manifest, &options.output)
}

/// The joined run's name: its folder's.
fn name(out: &Path) -> Result<String, WrongInput> {
    out.file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .ok_or_else(|| WrongInput(format!("--out {}: not a folder's name", out.display())))
}

fn create(out: &Path, manifest: &impl Serialize) -> anyhow::Result<RunFolder> {
    RunFolder::create(out, manifest).map_err(|error| match error {
        StoreError::InUse(_) => WrongInput(error.to_string()).into(),
        error => anyhow::Error::new(error).context("cannot make the run's folder"),
    })
}

fn read(path: &Path) -> anyhow::Result<Part> {
    let (_, manifest, samples) = kept::connect_run(path, "merge")?;
    let path = path.display().to_string();
    refuse_joined(&path, &manifest.origin)?;
    Ok(Part {
        path,
        manifest,
        samples,
    })
}

fn refuse_joined(path: &str, origin: &Origin) -> Result<(), WrongInput> {
    if origin.merged.is_empty() {
        return Ok(());
    }
    let why = format!("{path}: joined of others already; merge those");
    Err(WrongInput(why))
}
