//! The operations on stored runs of one kind.

use std::path::Path;

use netbench_model::{Kind, Manifest, Origin, Plan};
use netbench_report::{Report, RunRow};
use netbench_store::{RunFolder, StoreError};

use crate::{
    exit::Ended,
    options::{Asked, Page},
    pipeline::{CompareRuns, Listed, Measured, MergeRuns, go_on},
};

pub(crate) struct KindOfRun {
    pub(crate) kind: Kind,
    /// Reads a run with everything that its report needs.
    pub(crate) read: fn(&RunFolder) -> anyhow::Result<Box<dyn Report>>,
    /// Returns a run's row in a list of runs. Reads the whole run, to find defects.
    pub(crate) list: fn(&RunFolder) -> Result<RunRow, StoreError>,
    /// Continues a run.
    pub(crate) run: fn(&Path, Asked<'_>, Page) -> anyhow::Result<Ended>,
    /// Merges runs into one, if the kind supports it.
    pub(crate) merge: Option<MergeRuns>,
    /// Compares runs, if the kind supports it.
    pub(crate) compare: Option<CompareRuns>,
    /// The contents of the run's folder besides manifest, records and reports.
    pub(crate) holds: Holds,
}

/// The contents of a run's folder besides manifest, records and reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Holds {
    /// Files of these names.
    Files(&'static [&'static str]),
    /// The runs of an evaluation's parts, in folders.
    Runs,
}

impl KindOfRun {
    /// Returns the operations of a kind that is measured.
    pub(super) const fn of<M: Measured>() -> Self {
        Self {
            kind: <M::Plan as Plan>::KIND,
            read: |folder| Ok(Box::new(M::read(folder)?)),
            list: row::<M::Plan>,
            run: go_on::<M>,
            merge: M::MERGE,
            compare: M::COMPARE,
            holds: Holds::Files(M::FILES),
        }
    }
}

fn row<P: Listed>(folder: &RunFolder) -> Result<RunRow, StoreError> {
    let manifest: Manifest<P> = folder.manifest()?;
    let stacks = manifest.plan.stacks();
    let records = folder.records::<P::Counted>()?;
    Ok(RunRow {
        kind: manifest.kind.to_string(),
        stacks: stacks.iter().map(ToString::to_string).collect(),
        sites: manifest.plan.cases(),
        samples: records.len() as u64,
        missing: manifest.missing(&records),
        part: part(&manifest.origin),
        started: manifest.started,
        finished: manifest.finished,
        ..RunRow::default()
    })
}

/// Describes the run's shard, or the number of runs that were merged.
fn part(origin: &Origin) -> Option<String> {
    match (origin.shard, origin.merged.len()) {
        (Some(part), _) => Some(format!("shard {}", part.shard)),
        (None, 0) => None,
        (None, runs) => Some(format!("merged from {runs}")),
    }
}
