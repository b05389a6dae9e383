//! `netbench run`: continues a run of any kind, by the plan in its manifest.

use std::path::PathBuf;

use anyhow::Context;
use clap::{Args, ValueHint};
use netbench_store::RunFolder;

use crate::{
    client::Unstored,
    cost::Consent,
    exit::Ended,
    kinds,
    options::{Asked, Output, OwnWorkers, Page},
    stored::wrong,
};

pub(crate) const EXAMPLES: &str = "\
Examples:
  netbench run runs/2026-…                    after Ctrl-C, a kill or a failed part
  netbench run runs/2026-… --header 'Authorization: Bearer …'

The settings are those of the run's manifest. Only values that are not stored are
given again: the programs of --worker, the client's certificate, and headers.
Samples of the run stay as they are; sites that could not be scanned and parts of
an evaluation that failed are attempted again.";

#[derive(Debug, Args)]
pub(crate) struct Run {
    /// Folder of the run
    #[arg(value_hint = ValueHint::DirPath)]
    pub(crate) run: PathBuf,
    #[command(flatten)]
    pub(crate) own: OwnWorkers,
    /// Continue without asking, also if it takes more than an hour
    #[arg(long)]
    pub(crate) yes: bool,
    /// Make an HTML page of the report too, report.html in the run's folder, and open it in the browser
    #[arg(long)]
    open: bool,
    #[command(flatten)]
    pub(crate) unstored: Unstored,
    #[command(flatten)]
    pub(crate) output: Output,
}

pub(crate) fn run(options: &Run) -> anyhow::Result<Ended> {
    let kind = RunFolder::open(&options.run)
        .map_err(wrong)
        .and_then(|folder| kinds::of(&folder))
        .with_context(|| format!("cannot continue {}", options.run.display()))?;
    let asked = Asked {
        own: &options.own.worker,
        unstored: options.unstored.clone(),
        consent: Consent::of_option(options.yes),
        output: &options.output,
    };
    (kind.run)(&options.run, asked, Page::of_option(options.open))
}
