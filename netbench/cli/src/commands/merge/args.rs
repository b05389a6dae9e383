use std::path::PathBuf;

use clap::{Args, ValueHint};

use crate::options::Output;

pub(crate) const EXAMPLES: &str = "\
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
