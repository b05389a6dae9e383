use std::path::PathBuf;

use clap::{Args, ValueHint};

use crate::options::Output;

pub(crate) const EXAMPLES: &str = "\
Examples:
  netbench connect --seed 7 --shard 1/3 --name s1       2/3 and 3/3 elsewhere
  netbench runs merge runs/*-s1 runs/*-s2 runs/*-s3 --out runs/all
  netbench runs merge berlin/run tokyo/run --out runs/both

Shards with one seed become one run, as if one machine had measured all sites.
Runs of the same sites from several places become further rounds, which keep
the name of their vantage point.";

#[derive(Debug, Args)]
pub(crate) struct Merge {
    /// Folders of runs of connect, or of shards of a scan
    #[arg(required = true, value_name = "RUN", value_hint = ValueHint::DirPath)]
    pub(crate) runs: Vec<PathBuf>,
    /// Folder to create
    #[arg(long, short, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) out: PathBuf,
    /// Make an HTML page of the report too, report.html in the run's folder, and open it in the browser
    #[arg(long)]
    pub(crate) open: bool,
    /// Merge even if shards are missing or runs are unfinished; the report lists them
    #[arg(long)]
    pub(crate) partial: bool,
    #[command(flatten)]
    pub(crate) output: Output,
}
