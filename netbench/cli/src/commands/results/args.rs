use std::path::PathBuf;

use clap::{Args, Subcommand, ValueHint};

use crate::options::Output;

#[derive(Debug, Args)]
pub(crate) struct Results {
    #[command(subcommand)]
    pub(crate) command: ResultsCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ResultsCommand {
    /// List the runs in folders: kind, date, stacks, size, and what is wrong with those that are broken
    List {
        /// Folders of runs
        #[arg(default_value = "runs", value_hint = ValueHint::DirPath)]
        folders: Vec<PathBuf>,
        #[command(flatten)]
        output: Output,
    },
    /// Show the report of one run, and change nothing in its folder
    Show {
        /// The run's folder
        #[arg(value_hint = ValueHint::DirPath)]
        run: PathBuf,
        #[command(flatten)]
        output: Output,
    },
    /// Compress the raw samples of finished runs, those in an evaluation too. Every command reads them as before
    Pack {
        /// Folders of runs of any kind
        #[arg(required = true, value_name = "RUN", value_hint = ValueHint::DirPath)]
        runs: Vec<PathBuf>,
    },
    /// Remove old runs. Never removes what is not a run, is broken, is being measured, or has files of yours in it
    Prune(Prune),
}

#[derive(Debug, Args)]
pub(crate) struct Prune {
    /// Folders of runs
    #[arg(default_value = "runs", value_hint = ValueHint::DirPath)]
    pub(crate) folders: Vec<PathBuf>,
    /// Keep the N newest
    #[arg(long, value_name = "N", required_unless_present = "older_than")]
    pub(crate) keep: Option<usize>,
    /// Remove only runs that were begun more than this many days ago
    #[arg(long, value_name = "DAYS", value_parser = clap::value_parser!(u32).range(..=36_500))]
    pub(crate) older_than: Option<u32>,
    /// Say what would be removed, and remove nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Do not ask
    #[arg(long)]
    pub(crate) yes: bool,
}
