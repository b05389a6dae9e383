//! Merging of stored runs: the shards of one plan, or whole runs from several machines, become one run that every
//! command reads. This module finds the runs that belong together; the code for each kind is in the kind's folder.

mod groups;
mod settings;

use std::path::{Path, PathBuf};

use anyhow::Context;
use netbench_model::{LinkRecord, Manifest, MergedRun, Origin, Site};
use netbench_store::{RunFolder, StoreError};

pub(crate) use self::groups::groups;
use crate::{
    exit::{WrongInput, bail_input},
    pipeline::Listed,
    stored,
};

/// A plan whose runs can be merged.
pub(crate) trait Merged: Listed {
    /// The representation of a run's records: the records themselves, or their positions.
    type Records;

    /// The fields of the plan in which runs may differ that belong together, as JSON pointers. The sites are always
    /// among them, because a shard has a part of them, and places, which are paths of one machine.
    const MAY_DIFFER: &'static [&'static str];

    fn sites(&self) -> &[Site];

    /// Reads the run in a folder, which the user gave as `path`.
    fn read(
        path: String,
        folder: &RunFolder,
        manifest: Manifest<Self>,
    ) -> Result<Part<Self>, StoreError>;
}

/// A run that is merged with others.
pub(crate) struct Part<P: Merged> {
    /// The path as the user gave it.
    pub(crate) path: String,
    pub(crate) manifest: Manifest<P>,
    pub(crate) records: P::Records,
    /// The number of records that the run lacks.
    pub(crate) missing: u64,
    /// The data that the run should have but lacks completely.
    pub(crate) lacks: Option<&'static str>,
}

impl<P: Merged> Part<P> {
    fn read(path: &Path) -> anyhow::Result<Self> {
        let (folder, manifest) = stored::open::<P>(path)?;
        let part = P::read(path.display().to_string(), &folder, manifest);
        let part = part.map_err(stored::wrong)?;
        if part.manifest.origin.merged.is_empty() {
            return Ok(part);
        }
        Err(part
            .wrong("it was merged from other runs; merge those")
            .into())
    }

    fn seed(&self) -> u64 {
        self.manifest.plan.random_seed().unwrap_or_default()
    }

    pub(crate) fn wrong(&self, why: &str) -> WrongInput {
        WrongInput(format!("{}: {why}", self.path))
    }

    /// Returns the record of the part, with the beginning of its numbers in the merged run.
    pub(crate) fn merged_run(&self, before: Option<&MergedRun>) -> Option<MergedRun> {
        let manifest = &self.manifest;
        let first_session = before.map_or(0, |run| run.first_session + run.sessions);
        let sessions = u32::try_from(manifest.sessions.len()).ok()?;
        first_session.checked_add(sessions)?;
        Some(MergedRun {
            name: manifest.name.clone(),
            vantage: manifest.origin.vantage.clone(),
            seed: self.seed(),
            started: manifest.started.clone(),
            finished: manifest.finished.clone(),
            shard: manifest.origin.shard,
            first_session,
            sessions,
            first_round: 0,
            first_block: 0,
        })
    }

    /// Returns the positions of the part's sites in the whole list.
    pub(crate) fn places(&self) -> Result<Vec<usize>, WrongInput> {
        let count = self.manifest.plan.sites().len();
        let Some(record) = self.manifest.origin.shard else {
            return Ok((0..count).collect());
        };
        let whole = record.whole_sites as usize;
        if record.shard.places(whole).take(count + 1).count() != count {
            return Err(self.wrong("its sites are not those of its shard"));
        }
        Ok(record.shard.places(whole).collect())
    }
}

/// Returns the number of sites in the whole list.
pub(crate) fn whole_sites<P: Merged>(manifest: &Manifest<P>) -> u64 {
    match manifest.origin.shard {
        Some(record) => record.whole_sites.into(),
        None => manifest.plan.sites().len() as u64,
    }
}

/// Reads the runs, and refuses those that do not belong together.
pub(crate) fn parts<P: Merged>(paths: &[PathBuf]) -> anyhow::Result<Vec<Part<P>>> {
    let parts = paths.iter().map(|path| Part::read(path));
    let parts = parts.collect::<anyhow::Result<Vec<_>>>()?;
    settings::refuse_mixed(&parts)?;
    groups::refuse_twice(&parts)?;
    Ok(parts)
}

/// Returns the manifest of the run `name`, which has these parts and lacks the `missing` ones.
pub(crate) fn whole<P>(
    parts: Vec<Manifest<P>>,
    merged: Vec<MergedRun>,
    name: String,
    missing: &[String],
) -> Result<Manifest<P>, WrongInput> {
    let Some(mut manifest) = parts.into_iter().reduce(with_part) else {
        bail_input!("no runs");
    };
    manifest.name = name;
    manifest.origin = Origin {
        merged,
        ..Origin::default()
    };
    for what in missing {
        manifest.warnings.push(format!("merged with gaps: {what}"));
    }
    Ok(manifest)
}

/// Adds a further part to the manifest of the first.
fn with_part<P>(mut whole: Manifest<P>, part: Manifest<P>) -> Manifest<P> {
    let changes = whole.environment.changes(&part.environment);
    add_new(&mut whole.warnings, part.warnings);
    add_new(&mut whole.warnings, changes);
    whole.started = whole.started.min(part.started);
    whole.finished = whole.finished.max(part.finished);
    add_new(&mut whole.workers, part.workers);
    whole.sessions.extend(part.sessions);
    if let (Some(whole), Some(part)) = (&mut whole.link, part.link) {
        join_links(whole, part);
    }
    whole
}

/// Writes the merged run. The run is marked as unfinished until `finish` has written the rest.
pub(crate) fn write<P: Merged>(
    out: &Path,
    mut manifest: Manifest<P>,
    records: impl Iterator<Item = anyhow::Result<P::Record>>,
    finish: impl FnOnce(&RunFolder) -> anyhow::Result<()>,
) -> anyhow::Result<RunFolder> {
    let finished = manifest.finished.take();
    let folder = RunFolder::create(out, &manifest).map_err(|error| match error {
        StoreError::InUse(_) => WrongInput(error.to_string()).into(),
        error => anyhow::Error::new(error).context("cannot make the run's folder"),
    })?;
    let mut appender = folder.appender::<P::Record>()?;
    for record in records {
        appender
            .append(&record?)
            .context("the merged run is not complete; merge again")?;
    }
    finish(&folder)?;
    manifest.finished = finished;
    folder.write_manifest(&manifest)?;
    Ok(folder)
}

/// Returns the name of the merged run, which is that of its folder.
pub(crate) fn name(out: &Path) -> Result<String, WrongInput> {
    out.file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .ok_or_else(|| WrongInput(format!("--out {}: not a folder's name", out.display())))
}

/// Adds the new items of `part` to `whole`.
fn add_new<T: PartialEq>(whole: &mut Vec<T>, part: Vec<T>) {
    for item in part {
        if !whole.contains(&item) {
            whole.push(item);
        }
    }
}

/// Joins the worse values of both, and the sums of counts. Digests of losses cannot be merged.
fn join_links(whole: &mut LinkRecord, part: LinkRecord) {
    whole.checks.extend(part.checks);
    for (name, late) in part.lateness_ns {
        let worst = whole.lateness_ns.entry(name).or_default();
        *worst = late.max(*worst);
    }
    for (name, count) in part.packets {
        let sum = whole.packets.entry(name).or_default();
        *sum = sum.saturating_add(count);
    }
    whole.losses_sha256 = None;
}
