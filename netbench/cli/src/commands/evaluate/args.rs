use clap::Args;

use crate::options::{Output, SiteOptions, StartOptions, StoredIn, run_name};

pub(crate) const EXAMPLES: &str = "\
Examples:
  netbench evaluate --quick                      from openssl to rustls-aws-lc, in five minutes
  netbench evaluate --from openssl --to rustls-ring --sites mine.txt
  netbench evaluate --part sites,connections --live --sites mine.txt
  netbench evaluate --resume runs/…-evaluate     resume after a kill, or do again what failed
  netbench evaluate --quick --json | jq '.questions[] | {question, answer, because}'

Parts: features (BoringSSL's protocol tests), sites (what each site speaks, and which a switch would lose),
connections (connector, verification, handshake, total), suite (in memory). Each is a run of its own in the
evaluation's folder, which `netbench report` takes; a part that fails does not stop the others.
Nothing leaves this machine without --live.";

#[derive(Debug, Args)]
#[command(
    mut_arg("seed", |seed| seed.help("Seed of everything random in every part; without it, a new one")),
    mut_arg("out", |out| out.help("Where the evaluation's folder is made")),
    mut_arg("resume", |resume| {
        let resume = resume.help("Go on with the evaluation in this folder, with its own settings");
        resume.conflicts_with_all(["from", "to", "sites", "limit", "quick", "live", "part", "skip", "seed", "worker", "out", "name"])
    }),
)]
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
    #[command(flatten)]
    pub(crate) over: SiteOptions,
    /// A few minutes instead of half an hour: fewer rounds, stored protocol tests
    #[arg(long, help_heading = "What")]
    pub(crate) quick: bool,
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

    #[command(flatten)]
    pub(crate) start: StartOptions,

    #[command(flatten)]
    pub(crate) stored_in: StoredIn,
    /// Last part of the name of the evaluation's folder
    #[arg(long, value_name = "NAME", default_value = "evaluate", value_parser = run_name, help_heading = "Results")]
    pub(crate) name: String,
    /// Open the page in the browser
    #[arg(long, help_heading = "Results")]
    pub(crate) open: bool,
    #[command(flatten)]
    pub(crate) output: Output,
}
