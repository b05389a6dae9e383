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
    /// List runs: kind, date, stacks, size; and what is wrong with damaged ones
    List {
        /// Folders that contain runs
        #[arg(default_value = "runs", value_hint = ValueHint::DirPath)]
        folders: Vec<PathBuf>,
        #[command(flatten)]
        output: Output,
    },
    /// Show the report of a run without writing to its folder
    Show {
        /// Folder of the run
        #[arg(value_hint = ValueHint::DirPath)]
        run: PathBuf,
        #[command(flatten)]
        output: Output,
    },
    /// Compress the samples of finished runs; all commands can still read them
    Pack {
        /// Folders of the runs
        #[arg(required = true, value_name = "RUN", value_hint = ValueHint::DirPath)]
        runs: Vec<PathBuf>,
    },
    /// Delete old runs; never one that is damaged, in progress, or has other files in its folder
    Prune(Prune),
}

#[derive(Debug, Args)]
pub(crate) struct Prune {
    /// Folders that contain runs
    #[arg(default_value = "runs", value_hint = ValueHint::DirPath)]
    pub(crate) folders: Vec<PathBuf>,
    /// Keep the N newest
    #[arg(long, value_name = "N", required_unless_present = "older_than")]
    pub(crate) keep: Option<usize>,
    /// Delete only runs started more than DAYS days ago
    #[arg(long, value_name = "DAYS", value_parser = clap::value_parser!(u32).range(..=36_500))]
    pub(crate) older_than: Option<u32>,
    /// List what would be deleted, and delete nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Delete without asking
    #[arg(long)]
    pub(crate) yes: bool,
}
