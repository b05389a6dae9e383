use std::path::PathBuf;

use clap::{Args, ValueHint};

use crate::args::{Output, run_name, worker};

pub(crate) const EVALUATE_EXAMPLES: &str = "\
Examples:
  netbench evaluate --quick                      from openssl to rustls-aws-lc, in five minutes
  netbench evaluate --from openssl --to rustls-ring --sites mine.txt
  netbench evaluate --part sites,connections --live --sites mine.txt
  netbench evaluate --resume runs/…-evaluate     go on after a kill, or do again what failed
  netbench evaluate --quick --json | jq '.questions[] | {question, answer, because}'

Parts: features (BoringSSL's protocol tests), sites (what each site speaks, and which a switch would lose),
connections (connector, verification, handshake, total), suite (in memory). Each is a run of its own in the
evaluation's folder, which `netbench report` takes; a part that fails does not stop the others.
Nothing leaves this machine without --live.";

#[derive(Debug, Args)]
pub(crate) struct Evaluate {
    /// The stack that is in use
    #[arg(
        long,
        value_name = "STACK",
        default_value = "openssl",
        help_heading = "What"
    )]
    pub(crate) from: String,
    /// The stack that would take its place
    #[arg(
        long,
        value_name = "STACK",
        default_value = "rustls-aws-lc",
        help_heading = "What"
    )]
    pub(crate) to: String,
    /// Sites file; without it, the 101 built-in sites
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "What")]
    pub(crate) sites: Option<PathBuf>,
    /// Take only the first N sites
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), help_heading = "What")]
    pub(crate) limit: Option<u32>,
    /// A few minutes instead of half an hour: fewer rounds, kept protocol tests
    #[arg(long, help_heading = "What")]
    pub(crate) quick: bool,
    /// Connect to the real hosts, over the real network
    #[arg(long, help_heading = "What")]
    pub(crate) live: bool,
    /// Only these parts: features, sites, connections, suite
    #[arg(long, value_name = "P,…", value_delimiter = ',', help_heading = "What")]
    pub(crate) part: Vec<String>,
    /// Leave these parts out
    #[arg(
        long,
        value_name = "P,…",
        value_delimiter = ',',
        conflicts_with = "part",
        help_heading = "What"
    )]
    pub(crate) skip: Vec<String>,

    /// Seed of everything random in every part; without it, a new one
    #[arg(long, value_name = "N", help_heading = "How")]
    pub(crate) seed: Option<u64>,
    /// A worker of your own: a program that speaks the worker protocol
    #[arg(long, value_name = "STACK=PROGRAM", value_parser = worker, help_heading = "How")]
    pub(crate) worker: Vec<(String, PathBuf)>,

    /// Where the evaluation's folder is made
    #[arg(long, value_name = "DIR", default_value = "runs", value_hint = ValueHint::DirPath, help_heading = "Results")]
    pub(crate) out: PathBuf,
    /// Last part of the name of the evaluation's folder
    #[arg(long, value_name = "NAME", default_value = "evaluate", value_parser = run_name, help_heading = "Results")]
    pub(crate) name: String,
    /// Go on with the evaluation in this folder, with its own settings
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, help_heading = "Results",
          conflicts_with_all = ["from", "to", "sites", "limit", "quick", "live", "part", "skip", "seed", "worker", "out", "name"])]
    pub(crate) resume: Option<PathBuf>,
    /// Open the page in the browser
    #[arg(long, help_heading = "Results")]
    pub(crate) open: bool,
    #[command(flatten)]
    pub(crate) output: Output,
}
