use std::{path::PathBuf, time::Duration};

use clap::{Args, ValueEnum, ValueHint};
use netbench_link::LinkChoice;
use netbench_model::parse_duration;

use crate::{
    args::{Output, ProfileArg, run_name, worker},
    shard::ShardArg,
};

pub(crate) const SCAN_EXAMPLES: &str = "\
Examples:
  netbench scan                                     the 101 emulated sites
  netbench scan 127.0.0.1:8443                      a server of this machine, in full
  netbench scan --against openssl,rustls-aws-lc     which sites does each stack lose, and why?
  netbench scan --against openssl,rustls-aws-lc --sites mine.txt --live --rate 20
  netbench scan --summary --format markdown         shares of versions, suites, key exchanges, signatures
  netbench scan --seed 7 --shard 1/3 --name s1      a part of the sites; `netbench merge` joins the parts
  netbench scan --resume runs/…                     go on after a kill
  netbench scan --json | jq '.sites[] | {site, versions: [.versions[] | select(.supported).version]}'

The report goes to stdout, progress to stderr, and everything into a folder under runs/.
Nothing leaves this machine without --live.";

pub(crate) const HELLO_EXAMPLES: &str = "\
Examples:
  netbench hello
  netbench hello --stack rustls-ring --client-profile default
  netbench hello --json | jq '.hellos[] | {stack, wire_bytes, ja4}'";

#[derive(Debug, Args)]
pub(crate) struct Scan {
    /// Servers to scan; without any, the emulated sites. Port 443 where none is given
    #[arg(value_name = "HOST[:PORT]", value_hint = ValueHint::Hostname, conflicts_with = "sites")]
    pub(crate) targets: Vec<String>,
    /// Sites file; without it, the 101 built-in sites
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "What")]
    pub(crate) sites: Option<PathBuf>,
    /// Take only the first N sites
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), help_heading = "What")]
    pub(crate) limit: Option<u32>,
    /// Take one part of the sites: I/N, such as 2/3, or auto, from a Kubernetes Indexed Job or a Slurm array
    #[arg(
        long,
        value_name = "I/N",
        requires = "seed",
        conflicts_with = "targets",
        help_heading = "What"
    )]
    pub(crate) shard: Option<ShardArg>,
    /// Scan the real hosts, over the real network
    #[arg(long, conflicts_with = "link", help_heading = "What")]
    pub(crate) live: bool,
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
    /// Trust roots: mozilla, native, or a PEM file
    #[arg(long, value_name = "ROOTS", default_value = "mozilla", value_hint = ValueHint::FilePath, help_heading = "What")]
    pub(crate) roots: String,

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

    /// How the path to emulated sites is emulated: auto, user, tun, netem, none
    #[arg(
        long,
        value_name = "LINK",
        default_value = "auto",
        help_heading = "How"
    )]
    pub(crate) link: LinkChoice,
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
    /// Seed of the losses of emulated links; without it, a new one
    #[arg(long, value_name = "N", help_heading = "How")]
    pub(crate) seed: Option<u64>,
    /// A worker of your own: a program that speaks the worker protocol
    #[arg(long, value_name = "STACK=PROGRAM", value_parser = worker, help_heading = "How")]
    pub(crate) worker: Vec<(String, PathBuf)>,

    /// The place that the sites are seen from; without it, this machine's name
    #[arg(long, value_name = "NAME", value_parser = run_name, help_heading = "Results")]
    pub(crate) vantage: Option<String>,
    /// Where the run's folder is made
    #[arg(long, value_name = "DIR", default_value = "runs", value_hint = ValueHint::DirPath, help_heading = "Results")]
    pub(crate) out: PathBuf,
    /// Last part of the name of the run's folder
    #[arg(long, value_name = "NAME", default_value = "scan", value_parser = run_name, help_heading = "Results")]
    pub(crate) name: String,
    /// Go on with the run in this folder, with its own settings
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, help_heading = "Results",
          conflicts_with_all = ["targets", "sites", "limit", "shard", "vantage", "live", "parts", "roots", "against", "client_profile", "confirm", "summary", "link", "jobs", "rate", "timeout", "retries", "seed", "out", "name"])]
    pub(crate) resume: Option<PathBuf>,
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

#[derive(Debug, Args)]
pub(crate) struct Hello {
    /// Stacks
    #[arg(
        long,
        value_name = "A,B,…",
        value_delimiter = ',',
        default_value = "openssl,rustls-aws-lc"
    )]
    pub(crate) stack: Vec<String>,
    /// How the connectors are set up
    #[arg(long, value_name = "P", value_enum, default_value_t = ProfileArg::Library)]
    pub(crate) client_profile: ProfileArg,
    /// A worker of your own: a program that speaks the worker protocol
    #[arg(long, value_name = "STACK=PROGRAM", value_parser = worker)]
    pub(crate) worker: Vec<(String, PathBuf)>,
    #[command(flatten)]
    pub(crate) output: Output,
}

fn rate(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(rate) if (0.01..=1e6).contains(&rate) => Ok(rate),
        _ => Err("a number of connections a second, from 0.01 to 1000000".to_owned()),
    }
}

fn limit(text: &str) -> Result<Duration, String> {
    let limit = parse_duration(text).map_err(|e| e.to_string())?;
    if (Duration::from_millis(10)..=Duration::from_secs(60)).contains(&limit) {
        Ok(limit)
    } else {
        Err("from 10ms to 60s".to_owned())
    }
}
