use clap::Args;
use netbench_browser::Product;
use netbench_link::LinkChoice;
use netbench_model::ClientUse;

use crate::{
    client::{RequestOptions, Unstored},
    options::{
        Output, ProfileArg, RootsOptions, SiteOptions, StartOptions, StoredIn, TargetOptions,
        ThresholdOptions,
    },
};

pub(crate) const EXAMPLES: &str = "\
Examples:
  netbench evaluate --quick                from openssl to rustls-aws-lc
  netbench evaluate --from openssl --to rustls-ring --sites mine.txt
  netbench evaluate --part sites,connections --live --sites mine.txt
  netbench evaluate https://localhost:8443/ --roots my-ca.pem
  netbench evaluate --quick --browsers     also ask Chromium and Firefox
  netbench evaluate --from servo+openssl --to servo
  netbench evaluate --quick --json | jq '.questions[] | {question, answer}'

Parts:
  features     BoringSSL's protocol tests (bogo)
  compat       servers, certificate chains and trust stores that are right,
               wrong, old or odd (compat, compat chains, compat roots)
  browsers     what browsers do on emulated sites and with the servers of compat
               (browser, compat --client); only with --browsers
  sites        what each site supports, and which ones would be lost (scan)
  connections  times of connections (connect)
  suite        benchmarks in memory (suite)

Each part is a run in the evaluation's folder. If one fails, the others go on;
`netbench run FOLDER` continues, and attempts failed parts again.
Without --live, nothing leaves this machine.";

#[derive(Debug, Args)]
#[command(
    mut_arg("seed", |seed| seed.help("Seed of everything random in every part [default: a new one]")),
    mut_arg("open", |open| open.help("Open the HTML report in the browser")),
    mut_arg("out", |out| out.help("Folder to create the evaluation's folder in")),
)]
pub(crate) struct Evaluate {
    /// Stack in use now, or Servo with its TLS library: servo, servo+ring, servo+openssl
    #[arg(long, value_name = "STACK", default_value = "openssl")]
    pub(crate) from: String,
    /// Stack that would replace it; for two Servos, their page loads are compared too
    #[arg(long, value_name = "STACK", default_value = "rustls-aws-lc")]
    pub(crate) to: String,
    #[command(flatten)]
    pub(crate) over: SiteOptions,
    /// Use of the client, which decides how losses weigh: browser, http-client, cli-tool
    ///
    /// Losses and gains are the same for all; see "Weighing" in docs/METHOD.md. An HTTP client to its operator's own
    /// servers counts every server that worked before; a browser lists those that other browsers refuse too without
    /// counting them.
    #[arg(long = "for", value_name = "USE", default_value_t = ClientUse::default(), hide_possible_values = true)]
    pub(crate) client_use: ClientUse,
    /// Take a few minutes instead of half an hour: fewer rounds, connections to at most 20 sites, stored protocol tests
    #[arg(long)]
    pub(crate) quick: bool,
    /// Ask browsers as well what they do: chromium, firefox, webkitgtk, servo, servo+ring, servo+openssl;
    /// without a list the first two
    #[arg(
        long,
        value_name = "B,…",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "chromium,firefox",
        value_delimiter = ','
    )]
    pub(crate) browsers: Vec<Product>,

    #[command(flatten)]
    pub(crate) targets: TargetOptions,
    /// Run only these parts: features, compat, browsers, sites, connections, suite
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

    #[command(flatten, next_help_heading = "Client")]
    pub(crate) roots: RootsOptions,
    /// How to set up the connectors, in every part
    #[arg(long, value_name = "P", value_enum, default_value_t = ProfileArg::Library)]
    pub(crate) client_profile: ProfileArg,
    #[command(flatten)]
    pub(crate) unstored: Unstored,
    #[command(flatten)]
    pub(crate) request: RequestOptions,

    #[command(flatten)]
    pub(crate) start: StartOptions,
    /// Rounds of timed connections [default: 10; with --quick 6]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) rounds: Option<u32>,
    /// How to emulate the network: auto, user, tun, netem, none
    #[arg(
        long,
        value_name = "LINK",
        default_value = "auto",
        conflicts_with_all = ["live", "targets"]
    )]
    pub(crate) link: LinkChoice,

    #[command(flatten)]
    pub(crate) thresholds: ThresholdOptions,
    #[command(flatten)]
    pub(crate) stored_in: StoredIn,
    #[command(flatten)]
    pub(crate) output: Output,
}
