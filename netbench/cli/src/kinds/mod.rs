//! The kinds of run. A new kind is a file here and a line in [`KINDS`]; no other code distinguishes kinds.

mod browser;
mod chains;
mod compat;
pub(crate) mod connect;
pub(crate) mod evaluation;
mod roots;
pub(crate) mod scan;
mod ship;
mod suite;

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use netbench_model::{Kind, Manifest, Origin, Plan, Recorded, StackName};
use netbench_report::{Report, RunRow};
use netbench_store::{RunFolder, StoreError};

use crate::{
    commands::{run::args::Run, runs::compare},
    cost::Cost,
    exit::{Ended, WrongInput},
    merge::Merging,
    options::Output,
    output,
    pipeline::{Measured, go_on},
    show,
    stack_names::clients,
    stored::{note_repeated, wrong},
};

/// The operations on stored runs of one kind.
pub(crate) struct KindOfRun {
    pub(crate) kind: Kind,
    /// Reads a run with everything that its report needs.
    pub(crate) read: Read,
    /// Returns a run's row in a list of runs. Reads the whole run, to find defects.
    pub(crate) list: fn(&RunFolder) -> Result<RunRow, StoreError>,
    /// Continues a run.
    pub(crate) run: fn(&Run) -> anyhow::Result<Ended>,
    /// Merges runs into one, if the kind supports it.
    pub(crate) merge: Option<Merge>,
    /// Compares runs, if the kind supports it.
    pub(crate) compare: Option<Compare>,
    /// The contents of the run's folder besides manifest, records and reports.
    pub(crate) holds: Holds,
}

impl KindOfRun {
    /// Returns the operations of a kind whose runs cannot be merged or compared.
    const fn of<M: Measured>(read: Read) -> Self {
        Self {
            kind: <M::Plan as Plan>::KIND,
            read,
            list: row::<M::Plan>,
            run: go_on::<M>,
            merge: None,
            compare: None,
            holds: Holds::Files(&[]),
        }
    }

    const fn merged_by(mut self, merge: Merge) -> Self {
        self.merge = Some(merge);
        self
    }

    const fn compared_by(mut self, compare: Compare) -> Self {
        self.compare = Some(compare);
        self
    }

    const fn holding(mut self, files: &'static [&'static str]) -> Self {
        self.holds = Holds::Files(files);
        self
    }
}

type Read = fn(&RunFolder) -> anyhow::Result<Box<dyn Report>>;

pub(crate) type Compare =
    fn(&compare::args::Compare, Option<(&StackName, &StackName)>) -> anyhow::Result<Ended>;

pub(crate) type Merge = fn(&[PathBuf], &Merging<'_>) -> anyhow::Result<RunFolder>;

/// The contents of a run's folder besides manifest, records and reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Holds {
    /// Files of these names.
    Files(&'static [&'static str]),
    /// The runs of an evaluation's parts, in folders.
    Runs,
}

static KINDS: [KindOfRun; 9] = [
    connect::KIND,
    suite::KIND,
    scan::KIND,
    compat::KIND,
    chains::KIND,
    roots::KIND,
    ship::KIND,
    browser::KIND,
    evaluation::KIND,
];

pub(crate) fn of(folder: &RunFolder) -> anyhow::Result<&'static KindOfRun> {
    let kind = folder.kind().map_err(wrong)?;
    let known = KINDS.iter().find(|known| known.kind == kind);
    known.ok_or_else(|| {
        let names: Vec<_> = KINDS.iter().map(|known| known.kind.name()).collect();
        WrongInput(format!(
            "{}: unknown kind of run \"{}\" (known are {}); a newer netbench may know it",
            folder.path().join("run.json").display(),
            kind.name().escape_debug(),
            names.join(", ")
        ))
        .into()
    })
}

pub(crate) struct StoredRun {
    pub(crate) report: Box<dyn Report>,
}

impl StoredRun {
    pub(crate) fn read(path: &Path) -> anyhow::Result<Self> {
        let folder = RunFolder::open(path).map_err(wrong)?;
        let report = (of(&folder)?.read)(&folder)?;
        note_repeated(&folder)?;
        Ok(Self { report })
    }
}

/// The HTML page of a run's report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Page {
    /// No page is made.
    None,
    /// A page is made, and opened in the browser.
    Opened,
}

impl Page {
    /// Returns the value of `--open`.
    pub(crate) fn of_option(open: bool) -> Self {
        if open { Self::Opened } else { Self::None }
    }
}

/// Makes the reports of a run in its folder and on stdout. The returned end shows whether the report has any figure.
pub(crate) fn publish(folder: &RunFolder, output: &Output, page: Page) -> anyhow::Result<Ended> {
    let report = (of(folder)?.read)(folder)?;
    output::print(&*report, output)?;
    output::store(folder, &*report, output)?;
    if page == Page::Opened {
        show::open(&output::store_page(folder, &*report, output)?);
    }
    Ok(ended(&*report))
}

pub(crate) fn ended(report: &dyn Report) -> Ended {
    match (report.tells(), report.passes()) {
        (false, _) => Ended::NothingToCompare,
        (true, false) => Ended::CheckFailed,
        (true, true) => Ended::Well,
    }
}

/// A plan of one kind: the facts that lists of runs, estimates and the pipeline need.
pub(crate) trait Listed: Recorded {
    /// Returns the stacks of the plan's samples.
    fn stacks(&self) -> &[StackName];

    /// Returns the number of sites or scenarios.
    fn cases(&self) -> u64;

    /// Predicts the cost of the whole run.
    fn cost(&self) -> Cost;

    /// Returns the stacks for which workers are needed, without the servers of sites.
    fn workers(&self) -> BTreeSet<String> {
        clients(self.stacks())
    }
}

pub(crate) fn row<P: Listed>(folder: &RunFolder) -> Result<RunRow, StoreError> {
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
