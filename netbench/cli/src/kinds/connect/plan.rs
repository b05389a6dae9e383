use std::time::Duration;

use clap::{Args, ValueEnum};
use netbench_interop::SEGMENT_BYTES;
use netbench_model::{
    Alpn, CertificatesPreset, CipherSuite, ClientSettings, Condition, ConnectManifest, ConnectPlan,
    CpuShare, Group, LinkPreset, Profile, SignatureScheme, StackName, Switch, Target, TlsVersion,
    parse_duration, tls::one_of,
};
use netbench_report::count;
use netbench_runner::Workers;

use super::sweep;
use crate::{
    client::{self, RequestOptions, Unstored, millis},
    exit::{WrongInput, bail_input},
    options::{
        Output, PathOptions, ProfileArg, RootsOptions, SiteOptions, StackOptions, StartOptions,
        StoredIn, TargetOptions, ThresholdOptions, each_once,
    },
    run, sites_file,
    stack_names::{new_seed, stack_names},
    targets,
};

pub(crate) const EXAMPLES: &str = "\
Examples:
  netbench connect                            openssl and rustls-aws-lc, 101 sites
  netbench connect --quick                    three lines, in 20 seconds
  netbench connect --stack openssl,rustls-aws-lc --condition clean,resumed,cold
  netbench connect https://localhost:8443/ --roots my-ca.pem
  netbench connect https://example.test --connect-to example.test:443:127.0.0.1:8443
  netbench connect https://example.com https://example.org/path --live
  netbench connect --sites mine.txt --live    real hosts
  netbench connect --cpu 25%                  clients with a quarter of a core each
  netbench connect --sweep rtt=1ms,10ms,100ms --sweep loss=0,1%
  netbench connect --sweep link=cable,dsl,lte,4g,3g,satellite --only github.com
  netbench connect --sweep server=openssl,nginx,haproxy --only github.com
                                              servers as they are installed
  netbench connect --preset post-quantum      where ML-DSA and ML-KEM cost a round trip
  netbench connect --preset flight-steps      where a longer chain costs a round trip
  netbench connect --preset client-flight-steps
                                              the same of the certificates that clients send
  netbench connect --json | jq .comparisons

The report goes to stdout, progress to stderr, and all files to a new folder in
runs/. Without --live, nothing leaves this machine.";

#[derive(Debug, Args)]
#[command(
    mut_arg("format", |format| format.default_value_if("quick", "true", "brief")),
    mut_arg("seed", |seed| seed.help("Seed of the order of trials and of packet losses [default: a new one]")),
)]
pub(crate) struct Connect {
    #[command(flatten)]
    pub(crate) stacks: StackOptions,
    #[command(flatten)]
    pub(crate) over: SiteOptions,
    /// Take 20 seconds: six of the sites, and an answer of three lines
    #[arg(long, conflicts_with_all = ["targets", "limit", "every", "only", "sweep", "preset"])]
    pub(crate) quick: bool,
    /// Conditions to measure: clean (a new connector), resumed (a session), cold (a new process), early-data (a session,
    /// with the request in the first flight: sites with early-data=accept or reject, stacks such as rustls-aws-lc+plain)
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

    #[command(flatten)]
    pub(crate) targets: TargetOptions,
    /// Use only every Nth of the sites
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..), hide_default_value = true, conflicts_with = "targets", help_heading = "What")]
    pub(crate) every: u32,
    /// Use only these of the sites
    #[arg(long, value_name = "SITE,…", value_delimiter = ',', conflicts_with_all = ["targets", "limit", "every"], help_heading = "What")]
    pub(crate) only: Vec<String>,
    /// Measure each site at several values of something, and at every combination if given again: rtt, jitter, loss,
    /// rate, rate-up, queue, any other field of a sites file, link (see netbench setup link list), certificates (ecdsa,
    /// long, mixed, mldsa-44, mldsa-65, merkle), hybrid (off,on), cpu (100%,25%). Without --sites, --only, --limit or
    /// --every it is of the first site alone
    #[arg(long, value_name = "NAME=V,…", conflicts_with_all = ["targets", "live"], help_heading = "What")]
    pub(crate) sweep: Vec<String>,
    /// Sweep what answers a question
    #[arg(long, value_name = "PRESET", value_enum, conflicts_with_all = ["sweep", "targets", "live"], help_heading = "What")]
    pub(crate) preset: Option<SweepPreset>,

    #[command(flatten, next_help_heading = "Client")]
    pub(crate) roots: RootsOptions,
    /// How to set up the connectors [default: library; with --groups, --sweep or --preset, default]
    #[arg(long, value_name = "P", value_enum)]
    client_profile: Option<ProfileArg>,
    /// TLS versions to offer; 1.0 and 1.1 with --client-profile library alone, by the stacks that have them
    #[arg(
        long,
        value_name = "V,…",
        value_delimiter = ',',
        value_parser = |text: &str| one_of("TLS version", text, TlsVersion::SERVED),
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
    pub(crate) unstored: Unstored,
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
    pub(crate) thresholds: ThresholdOptions,
    #[command(flatten)]
    pub(crate) stored_in: StoredIn,
    #[command(flatten)]
    pub(crate) output: Output,
}

impl Connect {
    /// Returns the profile of the clients. Groups can be chosen only where settings are fixed, and a sweep predicts
    /// times from the settings.
    ///
    /// # Errors
    /// An option chooses groups together with the profile `library`, which offers the groups of the library, or versions
    /// before TLS 1.2 together with another profile, which offers suites of TLS 1.2 and 1.3.
    pub(crate) fn profile(&self) -> anyhow::Result<Profile> {
        let is_fixed = !self.groups.is_empty() || !self.sweep.is_empty() || self.preset.is_some();
        let usual = if is_fixed {
            Profile::Default
        } else {
            Profile::Library
        };
        let profile = self.client_profile.map_or(usual, Profile::from);
        let chooses_groups = match self.preset {
            _ if !self.groups.is_empty() => Some("--groups"),
            _ if self.sweep.iter().any(is_of_groups) => Some("--sweep hybrid"),
            Some(SweepPreset::PostQuantum) => Some("--preset post-quantum"),
            _ => None,
        };
        let old = self.tls.iter().find(|version| version.is_deprecated());
        match chooses_groups {
            _ if let (Some(old), true) = (old, profile != Profile::Library) => bail_input!(
                "--tls {old} has no effect with --client-profile {}, whose suites are those of TLS 1.2 and 1.3; use \
                 --client-profile library",
                profile.name()
            ),
            Some(option) if profile == Profile::Library => bail_input!(
                "{option} has no effect with --client-profile library, which offers the library's own groups; use \
                 --client-profile default"
            ),
            _ => Ok(profile),
        }
    }
}

/// Returns whether a value of `--sweep` chooses groups.
fn is_of_groups(sweep: impl AsRef<str>) -> bool {
    sweep.as_ref().split('=').next() == Some("hybrid")
}

/// A sweep that has a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SweepPreset {
    /// Where post-quantum cryptography costs a round trip: six certificates, of which four have ML-DSA, without and with
    /// the hybrid group, over eight links
    PostQuantum,
    /// At which size of the server's first flight a round trip is added: chains in steps of one segment around congestion
    /// windows of 10, 20 and 32 segments, over 20 and 100 ms
    FlightSteps,
    /// At which size of the client's certificates a round trip is added, where servers require one: in steps of one segment
    /// around congestion windows of the client of 10, 20 and 32 segments, over 20 and 100 ms
    ClientFlightSteps,
}

impl SweepPreset {
    /// Returns the values of `--sweep` for which the preset stands. With the long chain, OpenSSL as a server sends ten
    /// segments without the hybrid group and eleven with it, which is one more than it may send before it waits. Servers
    /// staple nothing, because a response with a signature of ML-DSA would have the size of another certificate's.
    pub(crate) fn axes(self) -> Vec<String> {
        match self {
            // The server's first flight has messages beside the chain, and OpenSSL fills two of its segments in part.
            Self::FlightSteps => flight_steps("chain", "2", "window", 2),
            Self::ClientFlightSteps => {
                // Behind a client's certificates are the preface of HTTP/2, its SETTINGS and the request.
                let mut axes = flight_steps("client-cert", "ecdsa-p256", "window-up", 4);
                // Tickets contain the client's certificate: the server's flights would grow with it.
                axes.push("tickets=0".to_owned());
                axes
            }
            Self::PostQuantum => vec![
                format!("link={}", LinkPreset::ALL.map(|link| link.name).join(",")),
                format!(
                    "certificates={}",
                    CertificatesPreset::ALL
                        .map(|certificates| certificates.name)
                        .join(",")
                ),
                "hybrid=off,on".to_owned(),
                "ocsp=off".to_owned(),
            ],
        }
    }
}

/// Returns the axes around congestion windows: for each window, chains from two segments below to two above the size that
/// fills it, where the flight needs some segments `beside` those that the chain fills.
fn flight_steps(chain: &str, kind: &str, window: &str, beside: u32) -> Vec<String> {
    const WINDOWS: [u32; 3] = [10, 20, 32];
    let chains = WINDOWS.iter().flat_map(|segments| {
        let filled = segments - beside;
        (filled - 2..=filled + 2).map(|segments| format!("{kind}/{}", segments * SEGMENT_BYTES))
    });
    let chains: Vec<String> = chains.collect();
    vec![
        format!("{chain}={}", chains.join(",")),
        format!(
            "{window}={}",
            WINDOWS.map(|segments| segments.to_string()).join(",")
        ),
        "rtt=20ms,100ms".to_owned(),
    ]
}

fn connection_limit(text: &str) -> Result<Duration, String> {
    let limit = parse_duration(text).map_err(|e| e.to_string())?;
    if limit < Duration::from_millis(10) {
        Err("at least 10ms".to_owned())
    } else {
        Ok(limit)
    }
}

/// Number of sites with `--quick`.
const QUICK_SITES: usize = 6;

/// Returns the plan of the options. Its client lists what the user chose; [`decide`] adds what only workers know.
pub(crate) fn plan(options: &Connect) -> anyhow::Result<ConnectManifest> {
    let (mut file, target) = targets::asked(&options.over, &options.targets, sites_file::HTTPS)?;
    sweep::only(&mut file, &options.only)?;
    let request = client::request(&options.request.method, &options.unstored.header);
    client::only_for_servers(target, &request, &options.unstored.identity)?;
    if options.over.live && options.jobs > 16 {
        bail_input!("--live takes at most 16 --jobs");
    }
    if target != Target::Lab && options.condition.contains(&Condition::EarlyData) {
        bail_input!(
            "--condition early-data is for emulated sites: only their servers report whether a request came as early data"
        );
    }
    let every = match options.quick {
        true => file.sites.len().div_ceil(QUICK_SITES),
        false => options.every as usize,
    };
    let mut plan = ConnectPlan {
        seed: options.start.seed.unwrap_or_else(new_seed),
        stacks: stacks(&options.stacks.names())?,
        conditions: each_once("--condition", &options.condition)?.to_vec(),
        rounds: options.rounds,
        jobs: options.jobs,
        cpu_percent: options.cpu,
        target,
        sites_sha256: file.sha256,
        sites: file.sites.iter().step_by(every).cloned().collect(),
        sites_file: file.name,
        sweep: None,
        client: ClientSettings {
            versions: versions(&options.tls)?,
            groups: each_once("--groups", &options.groups)?.to_vec(),
            alpn: each_once("--alpn", &options.alpn)?.to_vec(),
            ..ClientSettings::undecided(options.profile()?)
        },
        roots: targets::roots_record(&options.roots, options.roots_count)?,
        timeout_ms: millis(options.timeout),
        pause_ms: options.request.pause.map(millis),
        connect_to: options.targets.connect_to.clone(),
        request: client::record(&request),
        client_certificate: options.unstored.identity.load()?.record(),
        compression: None,
        link: targets::requested(options.path.link),
    };
    sweep::sweep(options, &mut plan)?;
    let origin = targets::origin(&options.path, &mut plan.sites)?;
    Ok(ConnectManifest {
        origin,
        thresholds: options.thresholds.collected(),
        ..run::manifest(plan)
    })
}

/// Refuses stacks that do not support the offers of the sweep.
pub(super) fn sweep_can(plan: &ConnectPlan, workers: &Workers) -> Result<(), WrongInput> {
    const HYBRID: Group = Group::X25519MLKEM768;
    let mut points = plan.sites.iter().filter_map(|site| site.point.as_deref());
    if !points.any(|point| point.client.hybrid == Some(Switch::On)) {
        return Ok(());
    }
    for stack in &plan.stacks {
        let known = workers.description(stack.stack());
        if !known.is_some_and(|known| known.groups.contains(&HYBRID)) {
            let library = known.map_or("", |known| known.record.library.as_str());
            bail_input!(
                "--sweep hybrid=on: {stack} ({library}) has no {HYBRID}; openssl and rustls-aws-lc have it, and \
                 --sweep hybrid=off needs none"
            );
        }
    }
    Ok(())
}

/// Decides the offer that all clients make, given the workers' capabilities.
pub(super) fn decide(plan: &mut ConnectPlan, workers: &Workers) -> anyhow::Result<()> {
    let stacks = plan.stacks.iter();
    let chosen: Vec<_> = stacks
        .filter_map(|stack| workers.description(stack.stack()))
        .collect();
    let client = &mut plan.client;
    for stack in &plan.stacks {
        let mut versions = client.versions.iter();
        if !versions.any(|version| workers.has_version(stack.stack(), *version)) {
            bail_input!(
                "--tls: {stack} has TLS 1.2 and 1.3 alone; add one of them, or leave the stack out"
            );
        }
    }
    if client.groups.is_empty() {
        client.groups = Group::OFFERED
            .iter()
            .copied()
            .filter(|group| chosen.iter().all(|stack| stack.groups.contains(group)))
            .collect();
    }
    if client.groups.is_empty() {
        bail_input!("the stacks have no group in common");
    }
    let suites = CipherSuite::OFFERED.iter().copied();
    client.suites = suites
        .filter(|suite| {
            client.versions.contains(&suite.version())
                && chosen.iter().all(|stack| stack.suites.contains(suite))
        })
        .collect();
    let schemes = SignatureScheme::OFFERED.iter().copied();
    client.signatures = schemes
        .filter(|scheme| chosen.iter().all(|stack| stack.signatures.contains(scheme)))
        .collect();
    Ok(())
}

/// Returns the versions to offer. OpenSSL offers all between the oldest and the newest.
fn versions(given: &[TlsVersion]) -> anyhow::Result<Vec<TlsVersion>> {
    let versions = each_once("--tls", given)?;
    let (oldest, newest) = (versions.iter().min(), versions.iter().max());
    let mut between = TlsVersion::SERVED
        .iter()
        .filter(|version| Some(*version) > oldest && Some(*version) < newest);
    if let Some(gap) = between.find(|version| !versions.contains(version)) {
        bail_input!(
            "--tls leaves out {gap}, which is between others; clients offer a range without gaps"
        );
    }
    Ok(versions.to_vec())
}

/// Describes the connections to real hosts.
pub(super) fn how(plan: &ConnectPlan) -> String {
    format!(
        "connecting over the real network to {}, one connection at a time to each, with a pause of {:?} between",
        count(plan.sites.len(), "host", "hosts"),
        plan.pause()
    )
}

fn stacks(names: &[String]) -> anyhow::Result<Vec<StackName>> {
    let labels = stack_names(names);
    if labels.len() < 2 {
        bail_input!("--stack needs at least two stacks to compare, such as openssl,rustls-aws-lc");
    }
    Ok(labels)
}
