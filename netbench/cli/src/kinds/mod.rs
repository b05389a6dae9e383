//! The kinds of run. A new kind is a folder here, a line in [`KINDS`] and one in [`Command`]; no other code of the command
//! distinguishes kinds.

pub(crate) mod browser;
pub(crate) mod chains;
pub(crate) mod compat;
pub(crate) mod connect;
pub(crate) mod evaluation;
pub(crate) mod features;
pub(crate) mod kind;
pub(crate) mod roots;
pub(crate) mod scan;
pub(crate) mod ship;
pub(crate) mod suite;
mod wanted;

use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Subcommand;
use netbench_report::Report;
use netbench_store::RunFolder;

use self::{
    browser::BrowserRun, chains::ChainsRun, compat::CompatRun, connect::ConnectRun,
    features::FeaturesRun, kind::KindOfRun, roots::RootsRun, scan::ScanRun, ship::ShipRun,
    suite::SuiteRun,
};
use crate::{
    exit::{Ended, WrongInput, bail_input},
    stored::{note_repeated, wrong},
};

static KINDS: [KindOfRun; 10] = [
    KindOfRun::of::<ConnectRun>(),
    KindOfRun::of::<SuiteRun>(),
    KindOfRun::of::<ScanRun>(),
    KindOfRun::of::<CompatRun>(),
    KindOfRun::of::<ChainsRun>(),
    KindOfRun::of::<RootsRun>(),
    KindOfRun::of::<ShipRun>(),
    KindOfRun::of::<BrowserRun>(),
    KindOfRun::of::<FeaturesRun>(),
    evaluation::KIND,
];

/// The commands that make runs.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Compare two stacks in full: features, sites that can be reached, speed
    #[command(after_help = evaluation::args::EXAMPLES)]
    Evaluate(Box<evaluation::args::Evaluate>),
    /// Time connections from each stack to each site, phase by phase
    #[command(after_help = connect::EXAMPLES)]
    Connect(Box<connect::Connect>),
    /// Benchmark the libraries in memory: handshakes, data, verification, memory use
    #[command(after_help = suite::EXAMPLES)]
    Suite(Box<suite::Suite>),
    /// Scan servers: what they support, and which of them each stack cannot reach
    #[command(after_help = scan::EXAMPLES)]
    Scan(Box<scan::Scan>),
    /// Find out which servers each stack refuses, and whether it should
    #[command(after_help = compat::EXAMPLES)]
    Compat(Box<compat::Compat>),
    /// Drive real browsers over emulated sites: times, what they negotiate, what they show
    #[command(after_help = browser::EXAMPLES)]
    Browser(Box<browser::BrowserOptions>),
    /// Build a client with each stack: its size, build time, crates, licences
    #[command(after_help = ship::EXAMPLES)]
    Ship(Box<ship::Ship>),
}

impl Command {
    pub(crate) fn run(&self) -> anyhow::Result<Ended> {
        match self {
            Self::Evaluate(options) => evaluation::evaluate(options),
            Self::Connect(options) => connect::connect(options),
            Self::Suite(options) => suite::suite(options),
            Self::Scan(options) => scan::scan(options),
            Self::Compat(options) => compat::compat(options),
            Self::Browser(options) => browser::browser(options),
            Self::Ship(options) => ship::ship(options),
        }
    }
}

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
