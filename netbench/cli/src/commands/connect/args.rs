use std::time::Duration;

use clap::Args;
use netbench_model::{Alpn, Condition, CpuShare, Group, TlsVersion, parse_duration, tls::one_of};

use crate::{
    client::{IdentityOptions, RequestOptions},
    options::{
        Output, PathOptions, ProfileArg, RootsOptions, SiteOptions, StackOptions, StartOptions,
        StoredIn, TargetOptions, Verbosity,
    },
};

pub(crate) const EXAMPLES: &str = "\
Examples:
  netbench connect                            openssl and rustls-aws-lc, 101 sites
  netbench connect --rounds 3 --limit 10      a quick look
  netbench connect --stack openssl,rustls-aws-lc --condition clean,resumed,cold
  netbench connect https://localhost:8443/ --roots my-ca.pem
  netbench connect https://example.test --connect-to example.test:443:127.0.0.1:8443
  netbench connect https://example.com https://example.org/path --live
  netbench connect --sites mine.txt --live    real hosts
  netbench connect --cpu 25%                  clients with a quarter of a core each
  netbench connect --resume runs/…            continue an interrupted run
  netbench connect --json | jq .comparisons

The report goes to stdout, progress to stderr, and all files to a new folder in
runs/. Without --live, nothing leaves this machine.";

#[derive(Debug, Args)]
#[command(
    mut_arg("seed", |seed| seed.help("Seed of the order of trials and of packet losses [default: a new one]")),
    mut_arg("resume", |resume| resume.conflicts_with_all(["targets", "connect_to", "sites", "stack", "condition", "rounds", "cpu", "limit", "every", "shard", "vantage", "live", "method", "pause", "client_profile", "tls", "groups", "alpn", "roots", "roots_count", "timeout", "link", "seed", "out", "name"])),
)]
pub(crate) struct Connect {
    #[command(flatten)]
    pub(crate) targets: TargetOptions,
    #[command(flatten)]
    pub(crate) over: SiteOptions,
    /// Use only every Nth of the sites
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..), hide_default_value = true, conflicts_with = "targets", help_heading = "What")]
    pub(crate) every: u32,
    #[command(flatten)]
    pub(crate) stacks: StackOptions,
    /// Conditions to measure: clean (a new connector), resumed (a session), cold (a new process)
    #[arg(
        long,
        value_name = "C,…",
        value_delimiter = ',',
        default_value = "clean"
    )]
    pub(crate) condition: Vec<Condition>,
    /// Rounds; each measures every site, condition and stack once
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) rounds: u32,

    #[command(flatten, next_help_heading = "Client")]
    pub(crate) roots: RootsOptions,
    /// How to set up the connectors
    #[arg(long, value_name = "P", value_enum, default_value_t = ProfileArg::Default)]
    pub(crate) client_profile: ProfileArg,
    /// TLS versions to offer
    #[arg(
        long,
        value_name = "V,…",
        value_delimiter = ',',
        value_parser = |text: &str| one_of("TLS version", text, TlsVersion::OFFERED),
        default_value = "1.2,1.3",
    )]
    pub(crate) tls: Vec<TlsVersion>,
    /// Groups to offer, preferred first [default: all that every chosen stack supports]
    #[arg(
        long,
        value_name = "G,…",
        value_delimiter = ',',
        value_parser = |text: &str| one_of("group", text, Group::OFFERED),
    )]
    pub(crate) groups: Vec<Group>,
    /// Application protocols to offer, preferred first
    #[arg(
        long,
        value_name = "A,…",
        value_delimiter = ',',
        default_value = "h2,http/1.1"
    )]
    pub(crate) alpn: Vec<Alpn>,
    /// Use exactly N trust roots: leave some out, or add generated ones
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=2_000))]
    pub(crate) roots_count: Option<u32>,
    /// Time limit of one connection
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = connection_limit)]
    pub(crate) timeout: Duration,
    #[command(flatten)]
    pub(crate) identity: IdentityOptions,
    #[command(flatten)]
    pub(crate) request: RequestOptions,

    #[command(flatten)]
    pub(crate) start: StartOptions,
    #[command(flatten)]
    pub(crate) path: PathOptions,
    /// Trials to run at a time, each with its own workers
    #[arg(long, short, value_name = "N", default_value_t = 6, value_parser = clap::value_parser!(u32).range(1..=64))]
    pub(crate) jobs: u32,

    /// Give each client only this share of a core's time, as on a weaker machine: 5% to 99%
    #[arg(long, value_name = "SHARE")]
    pub(crate) cpu: Option<CpuShare>,

    #[command(flatten)]
    pub(crate) stored_in: StoredIn,
    #[command(flatten)]
    pub(crate) verbosity: Verbosity,
    #[command(flatten)]
    pub(crate) output: Output,
}

fn connection_limit(text: &str) -> Result<Duration, String> {
    let limit = parse_duration(text).map_err(|e| e.to_string())?;
    if limit < Duration::from_millis(10) {
        Err("at least 10ms".to_owned())
    } else {
        Ok(limit)
    }
}
