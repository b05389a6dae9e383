//! The kinds of run. A new kind is a file here and a line in [`KINDS`]; nothing else tells kinds apart.

mod browser;
mod chains;
mod compat;
pub(crate) mod connect;
pub(crate) mod evaluation;
mod roots;
pub(crate) mod scan;
mod ship;
mod suite;

use std::path::{Path, PathBuf};

use netbench_model::{Kind, Manifest, Origin, Recorded, StackName};
use netbench_report::{Report, RunRow};
use netbench_store::{RunFolder, StoreError};

use crate::{
    commands::compare,
    exit::{Ended, WrongInput},
    merge::Merging,
    options::Output,
    output, show,
    stored::{note_repeated, wrong},
};

/// What can be done with stored runs of one kind.
pub(crate) struct KindOfRun {
    pub(crate) kind: Kind,
    /// Reads a run and all that its report needs.
    pub(crate) read: fn(&RunFolder) -> anyhow::Result<Box<dyn Report>>,
    /// What a list of runs shows of one. Reads all of it, to find what is broken.
    pub(crate) list: fn(&RunFolder) -> Result<RunRow, StoreError>,
    /// Merges runs into one, where runs of the kind can be.
    pub(crate) merge: Option<Merge>,
    /// Compares runs, where runs of the kind can be.
    pub(crate) compare: Option<Compare>,
    /// What is in its folder beside manifest, records and reports.
    pub(crate) holds: Holds,
}

pub(crate) type Compare =
    fn(&compare::args::Compare, Option<(&StackName, &StackName)>) -> anyhow::Result<Ended>;

pub(crate) type Merge = fn(&[PathBuf], &Merging<'_>) -> anyhow::Result<RunFolder>;

/// What a run's folder holds beside manifest, records and reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Holds {
    /// Files of these names.
    Files(&'static [&'static str]),
    /// The runs of its parts, in folders.
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

/// Whether a page is made too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Page {
    /// No.
    None,
    /// It is, and is opened in the browser.
    Opened,
}

impl Page {
    /// As `--open` says.
    pub(crate) fn of_option(open: bool) -> Self {
        if open { Self::Opened } else { Self::None }
    }
}

/// Makes the reports of a run in its folder and on stdout, and says whether there is a figure to read.
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

/// A plan that a list of runs can show.
pub(crate) trait Listed: Recorded {
    /// The stacks that its samples are of.
    fn stacks(&self) -> &[StackName];

    /// How many sites it has, or scenarios.
    fn cases(&self) -> u64;
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

/// Which part of the sites it has, or of how many runs it was merged.
fn part(origin: &Origin) -> Option<String> {
    match (origin.shard, origin.merged.len()) {
        (Some(part), _) => Some(format!("shard {}", part.shard)),
        (None, 0) => None,
        (None, runs) => Some(format!("merged from {runs}")),
    }
}
