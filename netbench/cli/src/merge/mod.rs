//! `netbench merge`: joins runs of `connect`, shards of one plan or whole runs from several machines,
//! into one run that every other command reads.

mod groups;
mod join;
mod settings;

use std::path::Path;

use anyhow::Context;
use netbench_model::{Manifest, Sample};
use netbench_store::{RunFolder, StoreError};

use crate::{
    args::Merge,
    connect,
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
    let parts: Vec<Part> = options
        .runs
        .iter()
        .map(|path| read(path))
        .collect::<anyhow::Result<_>>()?;
    let gaps = if options.partial {
        groups::Gaps::Allowed
    } else {
        groups::Gaps::Refused
    };
    settings::refuse_mixed(&parts)?;
    let groups = groups::groups(parts, gaps)?;
    let name = options
        .out
        .file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .ok_or_else(|| {
            WrongInput(format!(
                "--out {}: not a folder's name",
                options.out.display()
            ))
        })?;
    let (manifest, samples) = join::join(groups, name)?;

    // Until the last sample is in it, the new run says that it is not finished.
    let unfinished = Manifest {
        finished: None,
        ..manifest.clone()
    };
    let folder = RunFolder::create(&options.out, &unfinished).map_err(|error| match error {
        StoreError::InUse(_) => WrongInput(error.to_string()).into(),
        error => anyhow::Error::new(error).context("cannot make the run's folder"),
    })?;
    let mut appender = folder.appender()?;
    for sample in &samples {
        appender
            .append(sample)
            .context("the joined run is not complete; make it again")?;
    }
    folder.write_manifest(&manifest)?;
    let compared = connect::publish(&folder, &manifest, &options.output)?;
    Ok(if compared {
        Ended::Well
    } else {
        Ended::NothingToCompare
    })
}

fn read(path: &Path) -> anyhow::Result<Part> {
    let (_, manifest, samples) = kept::connect_run(path, "merge")?;
    let path = path.display().to_string();
    if !manifest.origin.merged.is_empty() {
        let why = format!("{path}: joined of others already; merge those");
        return Err(WrongInput(why).into());
    }
    Ok(Part {
        path,
        manifest,
        samples,
    })
}
