use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use clap::{
    Args, Subcommand, ValueHint,
    builder::{PossibleValue, PossibleValuesParser, TypedValueParser},
};
use netbench_interop::{POLICIES, built_in_policy};
use netbench_model::{HostName, ScanManifest, ScanPlan, Site, StartTls, Target, scan::Policy};
use netbench_report::{Needs, count};
use netbench_scan::{Limits, ScanPart};
use netbench_stats::SplitMix;

use crate::{
    client::{IdentityOptions, millis},
    exit::{WrongInput, bail_input},
    options::{
        Output, PathOptions, ProfileArg, RootsOptions, SiteOptions, StartOptions, StoredIn,
        TargetOptions, ThresholdOptions, between,
    },
    output::{shown, unknown},
    run,
    shard::keep_at,
    sites_file,
    stack_names::{new_seed, stack_names},
    targets,
    user_file::{parse_toml, read_text},
};

pub(crate) const EXAMPLES: &str = "\
Examples:
  netbench scan                               the 101 emulated sites
  netbench scan 127.0.0.1:8443                a server on this machine
  netbench scan 127.0.0.1:8443 --sni www.example.com --roots my-ca.pem
  netbench scan 127.0.0.1:8443 --sni www.example.com --dns 127.0.0.1:5353
  netbench scan https://localhost:8443/ --against openssl --roots my-ca.pem
  netbench scan --against openssl,rustls-ring which sites would each stack lose?
  netbench scan --against openssl --sites mine.txt --live --rate 20
  netbench scan --summary --format markdown   shares of versions, suites, groups
  netbench scan localhost:8443 --policy mozilla-intermediate --format sarif
  netbench scan localhost --starttls smtp     a mail server, at port 25
  netbench scan --sites million.txt --sample 500 --summary --live
  netbench scan --seed 7 --shard 1/3          a third of the sites (see runs merge)
  netbench scan diff runs/a runs/b            what changed between two scans
  netbench scan --json | jq '.sites[] | {site, versions}'

The report goes to stdout, progress to stderr, and all files to a new folder in
runs/. Without --live, nothing leaves this machine.";

#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    mut_arg("targets", |targets| targets.help("Servers to scan, by URL or by host [default: emulated sites]; those of this machine need no --live")),
    mut_arg("live", |live| live.help("Scan the real hosts over the real network")),
    mut_arg("seed", |seed| seed.help("Seed of --sample and of packet losses on emulated links [default: a new one]")),
)]
pub(crate) struct Scan {
    #[command(subcommand)]
    pub(crate) command: Option<ScanCommand>,
    #[command(flatten)]
    pub(crate) over: SiteOptions,
    /// Predict what each of these stacks would negotiate with each site
    #[arg(long, value_name = "A,B,…", value_delimiter = ',')]
    pub(crate) against: Vec<String>,
    /// Check every site against a policy: mozilla-modern, mozilla-intermediate, mozilla-old, or a TOML file; exit
    /// code 4 if a site breaks it, or could not be seen wholly
    #[arg(long, value_name = "POLICY", value_hint = ValueHint::FilePath)]
    pub(crate) policy: Option<String>,
    /// Add the shares of all sites, and which sites follow Mozilla's recommended configurations
    #[arg(long)]
    pub(crate) summary: bool,

    #[command(flatten)]
    pub(crate) targets: TargetOptions,
    /// Ask every server for NAME (SNI, and the Host of the request) and check its certificate against it
    #[arg(long, value_name = "NAME", conflicts_with = "against")]
    pub(crate) sni: Option<HostName>,
    /// Ask this DNS server for the HTTPS record of every site, and compare its configurations of Encrypted ClientHello
    /// with those that the site's server sends; without --live, a DNS server of this machine
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub(crate) dns: Option<SocketAddr>,
    /// Ask every server for TLS in plain text first, by this protocol: smtp, imap, pop3, ldap, postgres or xmpp; sites
    /// without a port are asked at the protocol's port
    #[arg(long = "starttls", value_name = "PROTOCOL", value_parser = start_tls(), conflicts_with = "against")]
    pub(crate) start_tls: Option<StartTls>,
    /// Scan N sites drawn at random, and say what that tells of all (with --summary, --against)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), conflicts_with_all = ["shard", "limit"])]
    pub(crate) sample: Option<u32>,
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

    /// How to set up the connectors of these stacks
    #[arg(long, value_name = "P", value_enum, default_value_t = ProfileArg::Library, help_heading = "Loss")]
    pub(crate) client_profile: ProfileArg,
    /// Confirm at most N of the lost sites with a handshake
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(..=100_000), help_heading = "Loss")]
    pub(crate) confirm: u32,
    /// Confirm about N of the sites that all stacks reach, too
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(..=100_000), help_heading = "Loss")]
    pub(crate) confirm_reached: u32,
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
    /// Time limit of a connection, and of an answer; a handshake of --against has twice as long
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = between(Duration::from_millis(10), Duration::from_secs(60)))]
    pub(crate) timeout: Duration,
    /// Time limit of a site; one that limits connections may need more
    #[arg(long, value_name = "TIME", default_value = "120s", value_parser = between(Duration::from_secs(1), Duration::from_secs(3600)))]
    pub(crate) site_timeout: Duration,
    /// Retries of a failed connection
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(..=10))]
    pub(crate) retries: u32,

    #[command(flatten)]
    pub(crate) thresholds: ThresholdOptions,
    #[command(flatten)]
    pub(crate) stored_in: StoredIn,
    #[command(flatten)]
    pub(crate) output: Output,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ScanCommand {
    /// Show what changed at each site from one scan to a later one
    #[command(after_help = DIFF_EXAMPLES)]
    Diff(Diff),
}

const DIFF_EXAMPLES: &str = "\
Examples:
  netbench scan diff runs/october runs/november
  netbench scan diff runs/a runs/b --json | jq '.changed[].site'

What a scan may have missed, because it was in part, is not called a change.";

#[derive(Debug, Args)]
pub(crate) struct Diff {
    /// Folder of the earlier scan
    #[arg(value_name = "BEFORE", value_hint = ValueHint::DirPath)]
    pub(crate) before: PathBuf,
    /// Folder of the later scan
    #[arg(value_name = "AFTER", value_hint = ValueHint::DirPath)]
    pub(crate) after: PathBuf,
    #[command(flatten)]
    pub(crate) output: Output,
}

fn parts() -> PossibleValuesParser {
    let parts = [
        (
            "enumeration",
            "Versions, cipher suites and their order, groups",
        ),
        ("signatures", "Signature schemes"),
        (
            "sessions",
            "Whole handshakes: tickets, resumption, early data, renegotiation, the response's head",
        ),
        (
            "features",
            "Everything else: ALPN, OCSP stapling, compression, …",
        ),
        ("intolerance", "Which unusual ClientHellos it fails on"),
    ];
    PossibleValuesParser::new(parts.map(|(name, about)| PossibleValue::new(name).help(about)))
}

fn start_tls() -> impl TypedValueParser<Value = StartTls> {
    let names = StartTls::ALL.iter().map(|protocol| protocol.name());
    PossibleValuesParser::new(names).try_map(|name| name.parse())
}

fn rate(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(rate) if (0.01..=1e6).contains(&rate) => Ok(rate),
        _ => Err("expected a number of connections a second, from 0.01 to 1000000".to_owned()),
    }
}

/// Returns the plan of the options.
pub(crate) fn plan(options: &Scan) -> anyhow::Result<ScanManifest> {
    let port = options.start_tls.map_or(sites_file::HTTPS, StartTls::port);
    let (mut file, place) = targets::asked(&options.over, &options.targets, port)?;
    if options.start_tls.is_some() && place == Target::Lab {
        bail_input!("--starttls is for URLs and for --live: emulated sites begin with TLS");
    }
    let live = place == Target::Live;
    match (options.dns, place) {
        (Some(_), Target::Lab) => {
            bail_input!(
                "--dns is for URLs and for --live: emulated sites with ech= have their own records"
            )
        }
        (Some(dns), Target::Loopback) if !dns.ip().is_loopback() => {
            bail_input!("--dns {dns} is not on this machine: asking it takes --live")
        }
        _ => {}
    }
    let sites = Arc::make_mut(&mut file.sites);
    let origin = targets::origin(&options.path, sites)?;
    let seed = options.start.seed.unwrap_or_else(new_seed);
    let sampled_of = options.sample.map(|sample| draw(sites, sample, seed));
    let policy = options.policy.as_deref().map(policy).transpose()?;
    if policy.is_none() && options.output.format().needs == Needs::Checks {
        bail_input!(
            "--format {} is of what passes or fails: it takes a --policy",
            options.output.format().name
        );
    }
    let parts = ScanPart::ALL.iter().map(ToString::to_string);
    let plan = ScanPlan {
        place,
        sites_file: file.name,
        sites_sha256: file.sha256,
        sites: file.sites,
        parts: parts.filter(|part| options.parts.contains(part)).collect(),
        jobs: options.jobs.unwrap_or(if live { 50 } else { 500 }),
        rate: options.rate.or(LIVE_RATE.filter(|_| live)),
        timeout_ms: millis(options.timeout),
        site_timeout_ms: millis(options.site_timeout),
        retries: options.retries,
        roots: targets::roots_record(&options.roots, None)?,
        seed,
        against: stack_names(&options.against),
        client_profile: options.client_profile.into(),
        confirm: options.confirm,
        confirm_reached: options.confirm_reached,
        summary: options.summary,
        sni: options.sni.clone(),
        policy,
        sampled_of: sampled_of.transpose()?,
        client_certificate: options.identity.load()?.record(),
        connect_to: options.targets.connect_to.clone(),
        start_tls: options.start_tls,
        dns: options.dns,
        link: targets::requested(options.path.link),
    };
    Ok(ScanManifest {
        origin,
        thresholds: options.thresholds.collected(),
        ..run::manifest(plan)
    })
}

/// The largest size of a policy, in bytes.
const LONGEST_POLICY: u64 = 1 << 20;

/// Reads the policy of `--policy`: a built-in one, or a file.
fn policy(given: &str) -> Result<Policy, WrongInput> {
    if let Some(policy) = built_in_policy(given) {
        return Ok(policy);
    }
    let path = Path::new(given);
    if !path.exists() && !given.contains(['/', '.']) {
        let known = [&POLICIES[..], &["a TOML file"]].concat();
        return Err(unknown("--policy: there is no policy", given, &known));
    }
    read_text(path, LONGEST_POLICY)
        .and_then(|text| parse_toml(&text))
        .map_err(|what| WrongInput(format!("--policy {}: {what}", shown(given))))
}

/// Returns the limits of the scanner. A real host gets one connection at a time.
pub(super) fn limits(plan: &ScanPlan) -> Limits {
    let default = Limits::default();
    let (per_site, per_address) = match plan.place {
        Target::Live => (1, 2),
        Target::Lab | Target::Loopback => (default.per_site, default.per_address),
    };
    Limits {
        sites: plan.jobs as usize,
        per_site,
        per_address,
        rate: plan.rate,
        timeout: Duration::from_millis(plan.timeout_ms),
        site_timeout: Duration::from_millis(plan.site_timeout_ms),
        retries: plan.retries,
        parts: plan
            .parts
            .iter()
            .filter_map(|name| ScanPart::ALL.iter().find(|part| part.name() == name))
            .copied()
            .collect(),
    }
}

/// Connections begun in a second at most over the real network, unless `--rate` says otherwise.
const LIVE_RATE: Option<f64> = Some(100.0);

/// Keeps `sample` of the sites, drawn by the run's seed, in the order of the file. Returns the number of all sites.
fn draw(sites: &mut Vec<Site>, sample: u32, seed: u64) -> Result<u32, WrongInput> {
    let whole = sites.len();
    if sample as usize > whole {
        bail_input!(
            "--sample {sample}: the file has only {}",
            count(whole, "site", "sites")
        );
    }
    let mut places: Vec<usize> = (0..whole).collect();
    SplitMix::new(seed).shuffle(&mut places);
    places.truncate(sample as usize);
    places.sort_unstable();
    keep_at(sites, places);
    Ok(u32::try_from(whole).unwrap_or(u32::MAX))
}

/// Describes the connections to real hosts.
pub(super) fn how(plan: &ScanPlan) -> String {
    let rate = plan.rate.unwrap_or(f64::INFINITY);
    format!(
        "scanning {} over the real network, at most {rate} connections a second, one at a time to each",
        count(plan.sites.len(), "host", "hosts")
    )
}
