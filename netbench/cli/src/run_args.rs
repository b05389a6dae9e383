use std::path::PathBuf;

use clap::{Args, Subcommand, ValueHint};

use crate::args::Output;

pub(crate) const EXPLAIN_EXAMPLES: &str = "\
Examples:
  netbench explain runs/…                        each stack against the first
  netbench explain runs/… --from openssl --to rustls-ring
  netbench explain runs/… --json | jq '.explanations[].sentences'";

#[derive(Debug, Args)]
pub(crate) struct Explain {
    /// The run's folder, of connect
    #[arg(value_hint = ValueHint::DirPath)]
    pub(crate) run: PathBuf,
    /// The stack that the other is compared with
    #[arg(long, value_name = "STACK", requires = "to")]
    pub(crate) from: Option<String>,
    /// The other stack
    #[arg(long, value_name = "STACK", requires = "from")]
    pub(crate) to: Option<String>,
    #[command(flatten)]
    pub(crate) output: Output,
}

pub(crate) const MERGE_EXAMPLES: &str = "\
Examples:
  netbench connect --seed 7 --shard 1/3 --name s1      on one machine, 2/3 and 3/3 on others
  netbench merge runs/*-s1 runs/*-s2 runs/*-s3 --out runs/all
  netbench merge berlin/run tokyo/run --out runs/both  the same plan from two places

Shards of one seed become one run, as if one machine had taken all sites. Runs of the same sites from
several places become further rounds; each keeps the name of its vantage point.";

#[derive(Debug, Args)]
pub(crate) struct Merge {
    /// Folders of runs of connect, or of shards of a scan
    #[arg(required = true, value_name = "RUN", value_hint = ValueHint::DirPath)]
    pub(crate) runs: Vec<PathBuf>,
    /// The folder that is made
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) out: PathBuf,
    /// Join what there is where shards are missing or runs were not finished; the report says so
    #[arg(long)]
    pub(crate) partial: bool,
    #[command(flatten)]
    pub(crate) output: Output,
}

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

#[derive(Debug, Args)]
pub(crate) struct Man {
    /// Folder for the pages, one for each command; without it, the first page goes to stdout
    #[arg(value_hint = ValueHint::DirPath)]
    pub(crate) folder: Option<PathBuf>,
}
