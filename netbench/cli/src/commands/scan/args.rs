use std::time::Duration;

use clap::{Args, ValueEnum, ValueHint};

use crate::options::{
    Output, PathOptions, ProfileArg, RootsOptions, SiteOptions, StartOptions, StoredIn, between,
    run_name,
};

pub(crate) const EXAMPLES: &str = "\
Examples:
  netbench scan                                     the 101 emulated sites
  netbench scan 127.0.0.1:8443                      a server of this machine, in full
  netbench scan --against openssl,rustls-aws-lc     which sites does each stack lose, and why?
  netbench scan --against openssl,rustls-aws-lc --sites mine.txt --live --rate 20
  netbench scan --summary --format markdown         shares of versions, suites, key exchanges, signatures
  netbench scan --seed 7 --shard 1/3 --name s1      a part of the sites; `netbench merge` joins the parts
  netbench scan --resume runs/…                     resume after a kill
  netbench scan --json | jq '.sites[] | {site, versions: [.versions[] | select(.supported).version]}'

The report goes to stdout, progress to stderr, and everything into a folder under runs/.
Nothing leaves this machine without --live.";

#[derive(Debug, Args)]
#[command(
    mut_arg("live", |live| live.help("Scan the real hosts, over the real network")),
    mut_arg("seed", |seed| seed.help("Seed of the losses of emulated links; without it, a new one")),
    mut_arg("resume", |resume| resume.conflicts_with_all(["targets", "sites", "limit", "shard", "vantage", "live", "parts", "roots", "against", "client_profile", "confirm", "summary", "link", "jobs", "rate", "timeout", "retries", "seed", "out", "name"])),
)]
pub(crate) struct Scan {
    /// Servers to scan; without any, the emulated sites. Port 443 where none is given
    #[arg(value_name = "HOST[:PORT]", value_hint = ValueHint::Hostname, conflicts_with_all = ["sites", "shard"])]
    pub(crate) targets: Vec<String>,
    #[command(flatten)]
    pub(crate) over: SiteOptions,
    /// What to ask for: versions, suites with their order and groups are always asked for
    #[arg(
        long,
        value_name = "P,…",
        value_enum,
        value_delimiter = ',',
        default_value = "enumeration,signatures,sessions,features,intolerance",
        help_heading = "What"
    )]
    pub(crate) parts: Vec<PartArg>,
    #[command(flatten, next_help_heading = "What")]
    pub(crate) roots: RootsOptions,

    /// Stacks, to say for each site what each of them would agree on with it
    #[arg(
        long,
        value_name = "A,B,…",
        value_delimiter = ',',
        help_heading = "Loss"
    )]
    pub(crate) against: Vec<String>,
    /// How the connectors of these stacks are set up
    #[arg(long, value_name = "P", value_enum, default_value_t = ProfileArg::Library, help_heading = "Loss")]
    pub(crate) client_profile: ProfileArg,
    /// Confirm by real handshakes at most N of the sites that are lost
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(..=100_000), help_heading = "Loss")]
    pub(crate) confirm: u32,
    /// Add the population table, and which sites keep to Mozilla's recommended configurations
    #[arg(long, help_heading = "Loss")]
    pub(crate) summary: bool,

    #[command(flatten)]
    pub(crate) path: PathOptions,
    /// Sites scanned at one time; without it 500, and 50 with --live
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=5_000), help_heading = "How")]
    pub(crate) jobs: Option<u32>,
    /// Connections begun in a second, at most; without it 100 with --live, and else no limit
    #[arg(long, value_name = "N", value_parser = rate, help_heading = "How")]
    pub(crate) rate: Option<f64>,
    /// Time limit of one connection and of one answer
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = limit, help_heading = "How")]
    pub(crate) timeout: Duration,
    /// How often a connection that failed is tried again
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(..=10), help_heading = "How")]
    pub(crate) retries: u32,
    #[command(flatten)]
    pub(crate) start: StartOptions,

    #[command(flatten)]
    pub(crate) stored_in: StoredIn,
    /// Last part of the name of the run's folder
    #[arg(long, value_name = "NAME", default_value = "scan", value_parser = run_name, help_heading = "Results")]
    pub(crate) name: String,
    #[command(flatten)]
    pub(crate) output: Output,
}

/// A part of a scan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PartArg {
    /// Versions, suites with their order, groups: always
    Enumeration,
    /// Signature schemes
    Signatures,
    /// Whole handshakes: tickets, resumption, early data, renegotiation, the response's head
    Sessions,
    /// Everything else that a server does or does not
    Features,
    /// What upsets it
    Intolerance,
}

fn rate(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(rate) if (0.01..=1e6).contains(&rate) => Ok(rate),
        _ => Err("a number of connections a second, from 0.01 to 1000000".to_owned()),
    }
}

fn limit(text: &str) -> Result<Duration, String> {
    between(text, Duration::from_millis(10), Duration::from_secs(60))
}
