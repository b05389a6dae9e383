use clap::Args;

use crate::options::{Output, SiteOptions, StartOptions, StoredIn};

pub(crate) const EXAMPLES: &str = "\
Examples:
  netbench evaluate --quick                from openssl to rustls-aws-lc
  netbench evaluate --from openssl --to rustls-ring --sites mine.txt
  netbench evaluate --part sites,connections --live --sites mine.txt
  netbench evaluate --resume runs/…        continue, and run failed parts again
  netbench evaluate --quick --json | jq '.questions[] | {question, answer}'

Parts:
  features     BoringSSL's protocol tests (bogo)
  sites        what each site supports, and which ones would be lost (scan)
  connections  times of connections (connect)
  suite        benchmarks in memory (suite)

Each part is a run in the evaluation's folder. If one fails, the others go on.
Without --live, nothing leaves this machine.";

#[derive(Debug, Args)]
#[command(
    next_help_heading = "What",
    mut_arg("seed", |seed| seed.help("Seed of everything random in every part [default: a new one]")),
    mut_arg("out", |out| out.help("Folder to create the evaluation's folder in")),
    mut_arg("resume", |resume| {
        let resume = resume.help("Resume the evaluation in DIR, with the settings it was started with; failed parts run again");
        resume.conflicts_with_all(["from", "to", "sites", "limit", "quick", "live", "part", "skip", "seed", "worker", "out", "name"])
    }),
)]
pub(crate) struct Evaluate {
    /// Stack in use now
    #[arg(long, value_name = "STACK", default_value = "openssl")]
    pub(crate) from: String,
    /// Stack that would replace it
    #[arg(long, value_name = "STACK", default_value = "rustls-aws-lc")]
    pub(crate) to: String,
    #[command(flatten)]
    pub(crate) over: SiteOptions,
    /// Take a few minutes instead of half an hour: fewer rounds, stored protocol tests
    #[arg(long)]
    pub(crate) quick: bool,
    /// Run only these parts: features, sites, connections, suite
    #[arg(long, value_name = "P,…", value_delimiter = ',')]
    pub(crate) part: Vec<String>,
    /// Skip these parts
    #[arg(
        long,
        value_name = "P,…",
        value_delimiter = ',',
        conflicts_with = "part"
    )]
    pub(crate) skip: Vec<String>,

    #[command(flatten)]
    pub(crate) start: StartOptions,

    #[command(flatten)]
    pub(crate) stored_in: StoredIn,
    /// Open the HTML report in the browser
    #[arg(long)]
    pub(crate) open: bool,
    #[command(flatten)]
    pub(crate) output: Output,
}
