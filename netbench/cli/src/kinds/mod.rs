//! The kinds of run. A new kind is a folder here, a line in [`KINDS`] and a command; no other code distinguishes kinds.

pub(crate) mod browser;
pub(crate) mod chains;
pub(crate) mod compat;
pub(crate) mod connect;
pub(crate) mod evaluation;
pub(crate) mod kind;
pub(crate) mod roots;
pub(crate) mod scan;
pub(crate) mod ship;
pub(crate) mod suite;
mod wanted;

use std::path::{Path, PathBuf};

use anyhow::Context;
use netbench_report::Report;
use netbench_store::RunFolder;

use self::{
    browser::BrowserRun, chains::ChainsRun, compat::CompatRun, connect::ConnectRun,
    kind::KindOfRun, roots::RootsRun, scan::ScanRun, ship::ShipRun, suite::SuiteRun,
};
use crate::{
    exit::{WrongInput, bail_input},
    stored::{note_repeated, wrong},
};

static KINDS: [KindOfRun; 9] = [
    KindOfRun::of::<ConnectRun>(),
    KindOfRun::of::<SuiteRun>(),
    KindOfRun::of::<ScanRun>(),
    KindOfRun::of::<CompatRun>(),
    KindOfRun::of::<ChainsRun>(),
    KindOfRun::of::<RootsRun>(),
    KindOfRun::of::<ShipRun>(),
    KindOfRun::of::<BrowserRun>(),
    evaluation::KIND,
];

/// Returns the kind of a run.
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

/// Returns the kind of several runs, and refuses runs of several kinds: only those of one kind are `joined`.
pub(crate) fn of_all(runs: &[PathBuf], joined: &str) -> anyhow::Result<&'static KindOfRun> {
    let mut first: Option<&'static KindOfRun> = None;
    for run in runs {
        let kind = of(&RunFolder::open(run).map_err(wrong)?)?;
        let first = first.get_or_insert(kind);
        if kind.kind != first.kind {
            bail_input!(
                "{}: a run of {}, where {} is one of {}: only runs of one kind are {joined}",
                run.display(),
                kind.kind,
                runs[0].display(),
                first.kind
            );
        }
    }
    first.context("no runs")
}

/// Reads a stored run with everything that its report needs.
pub(crate) fn read(path: &Path) -> anyhow::Result<Box<dyn Report>> {
    let folder = RunFolder::open(path).map_err(wrong)?;
    let report = (of(&folder)?.read)(&folder)?;
    note_repeated(&folder)?;
    Ok(report)
}
