use std::time::Duration;

use clap::{
    Args,
    builder::{PossibleValue, PossibleValuesParser},
};

use crate::{
    client::IdentityOptions,
    options::{
        Output, PathOptions, ProfileArg, RootsOptions, SiteOptions, StartOptions, StoredIn,
        TargetOptions, between,
    },
};

pub(crate) const EXAMPLES: &str = "\
Examples:
  netbench scan                               the 101 emulated sites
  netbench scan 127.0.0.1:8443                a server on this machine
  netbench scan https://localhost:8443/ --against openssl --roots my-ca.pem
  netbench scan --against openssl,rustls-ring which sites would each stack lose?
  netbench scan --against openssl --sites mine.txt --live --rate 20
  netbench scan --summary --format markdown   shares of versions, suites, groups
  netbench scan --seed 7 --shard 1/3          a third of the sites (see merge)
  netbench scan --resume runs/…               continue an interrupted scan
  netbench scan --json | jq '.sites[] | {site, versions}'

The report goes to stdout, progress to stderr, and all files to a new folder in
runs/. Without --live, nothing leaves this machine.";

#[derive(Debug, Args)]
#[command(
    mut_arg("targets", |targets| targets.help("Servers to scan, by URL or by host [default: emulated sites]; those of this machine need no --live")),
    mut_arg("client_cert", |cert| cert.help_heading("Loss").help("Certificate that the stacks show in the handshakes that confirm losses (PEM)")),
    mut_arg("client_key", |key| key.help_heading("Loss")),
    mut_arg("live", |live| live.help("Scan the real hosts over the real network")),
    mut_arg("seed", |seed| seed.help("Seed of packet losses on emulated links [default: a new one]")),
    mut_arg("resume", |resume| resume.conflicts_with_all(["targets", "connect_to", "sites", "limit", "shard", "vantage", "live", "parts", "roots", "against", "client_profile", "confirm", "summary", "link", "jobs", "rate", "timeout", "site_timeout", "retries", "seed", "out", "name"])),
)]
pub(crate) struct Scan {
    #[command(flatten)]
    pub(crate) targets: TargetOptions,
    #[command(flatten)]
    pub(crate) over: SiteOptions,
    /// Parts of the scan; enumeration is always done
    #[arg(
        long,
        value_name = "P,…",
        value_parser = parts(),
        value_delimiter = ',',
        default_value = "enumeration,signatures,sessions,features,intolerance",
    )]
    pub(crate) parts: Vec<String>,
    #[command(flatten)]
    pub(crate) roots: RootsOptions,

    /// Predict what each of these stacks would negotiate with each site
    #[arg(
        long,
        value_name = "A,B,…",
        value_delimiter = ',',
        help_heading = "Loss"
    )]
    pub(crate) against: Vec<String>,
    /// How to set up the connectors of these stacks
    #[arg(long, value_name = "P", value_enum, default_value_t = ProfileArg::Library, help_heading = "Loss")]
    pub(crate) client_profile: ProfileArg,
    /// Confirm at most N of the lost sites with a handshake
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(..=100_000), help_heading = "Loss")]
    pub(crate) confirm: u32,
    /// Add the shares of all sites, and which sites follow Mozilla's recommended configurations
    #[arg(long, help_heading = "Loss")]
    pub(crate) summary: bool,
    #[command(flatten)]
    pub(crate) identity: IdentityOptions,

    #[command(flatten)]
    pub(crate) start: StartOptions,
    #[command(flatten)]
    pub(crate) path: PathOptions,
    /// Sites to scan at a time [default: 500; with --live 50]
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=5_000))]
    pub(crate) jobs: Option<u32>,
    /// Most new connections a second [default: no limit; with --live 100]
    #[arg(long, value_name = "N", value_parser = rate)]
    pub(crate) rate: Option<f64>,
    /// Time limit of a connection, and of an answer
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = limit)]
    pub(crate) timeout: Duration,
    /// Time limit of a site; one that limits connections may need more
    #[arg(long, value_name = "TIME", default_value = "120s", value_parser = site_limit)]
    pub(crate) site_timeout: Duration,
    /// Retries of a failed connection
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(..=10))]
    pub(crate) retries: u32,

    #[command(flatten)]
    pub(crate) stored_in: StoredIn,
    #[command(flatten)]
    pub(crate) output: Output,
}

fn parts() -> PossibleValuesParser {
    let part = |name: &'static str, about: &'static str| PossibleValue::new(name).help(about);
    PossibleValuesParser::new([
        part(
            "enumeration",
            "Versions, cipher suites and their order, groups",
        ),
        part("signatures", "Signature schemes"),
        part(
            "sessions",
            "Whole handshakes: tickets, resumption, early data, renegotiation, the response's head",
        ),
        part(
            "features",
            "Everything else: ALPN, OCSP stapling, compression, …",
        ),
        part("intolerance", "Which unusual ClientHellos it fails on"),
    ])
}

fn rate(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(rate) if (0.01..=1e6).contains(&rate) => Ok(rate),
        _ => Err("expected a number of connections a second, from 0.01 to 1000000".to_owned()),
    }
}

fn limit(text: &str) -> Result<Duration, String> {
    between(text, Duration::from_millis(10), Duration::from_secs(60))
}

fn site_limit(text: &str) -> Result<Duration, String> {
    between(text, Duration::from_secs(1), Duration::from_secs(3600))
}
