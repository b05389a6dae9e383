use std::time::Duration;

use clap::Args;
use netbench_model::{Part, Preset, suggestion};

use crate::options::{Output, StackOptions, StartOptions, StoredIn, ThresholdOptions, between};

pub(crate) const EXAMPLES: &str = "\
Examples:
  netbench suite                                 handshakes and data transfer
  netbench suite --preset rustls-vs-openssl
  netbench suite --preset all-stacks             one row for each stack
  netbench suite --preset rustls-matrix          rustls by provider, compiler and allocator
  netbench suite --preset history --stack openssl   openssl@1.1.1, openssl@3.0 …
  netbench suite --preset history --stack rustls    rustls@0.20, rustls@0.21 …
  netbench suite crypto --stack openssl,openssl+novaes
  netbench suite handshake --case '*ecdsa-p384*'
  netbench suite handshake --list                names of the cases
  netbench suite all --until-decided             until every verdict is decided
  netbench suite --stack rustls-ring,rustls-ring  how exact is this machine?
  netbench runs compare runs/… --stack openssl,rustls-ring

Everything runs in memory, in worker processes that take turns of equally
many operations. Nothing is sent over a network.";

#[derive(Debug, Args)]
#[command(
    mut_arg("seed", |seed| seed.help("Seed of the order of scenarios and stacks [default: a new one]")),
)]
pub(crate) struct Suite {
    /// Parts to run: bulk, handshake, verify, connector, crypto, memory, threads, instructions, all [default: bulk, handshake]
    #[arg(value_name = "PART", value_parser = part)]
    pub(crate) parts: Vec<PartArg>,
    #[command(flatten)]
    pub(crate) stacks: StackOptions,
    /// Run only the cases whose names match; * and ? as in a shell
    #[arg(long = "case", value_name = "GLOB", conflicts_with = "preset")]
    pub(crate) cases: Vec<String>,
    /// Run the cases of a published benchmark (rustls-vs-openssl, rustls-2026, memory-table, s2n, bertie), the headline
    /// figures of every stack that is built (all-stacks) or of all built versions of one (history), or stacks with
    /// their variants (rustls-matrix, avx512)
    #[arg(long, value_name = "NAME", conflicts_with = "parts")]
    pub(crate) preset: Option<Preset>,
    /// List the cases and exit
    #[arg(long)]
    pub(crate) list: bool,
    /// Rounds, each in new processes [default: 30; with --until-decided at most 60]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) rounds: Option<u32>,
    /// Measure until every verdict is decided and known to 2 %, or the budget is used up
    #[arg(long)]
    pub(crate) until_decided: bool,

    #[command(flatten)]
    pub(crate) start: StartOptions,
    /// With --until-decided: start no round after this time
    #[arg(long, value_name = "TIME", default_value = "280s", value_parser = budget, requires = "until_decided")]
    pub(crate) budget: Duration,
    /// Time that each stack spends on a scenario in a round
    #[arg(long, value_name = "TIME", default_value = "100ms", value_parser = trial)]
    pub(crate) trial: Duration,
    /// Shortest time of a turn's measured operations: raises their number above 20, for all stacks alike
    #[arg(long, value_name = "TIME", default_value = "4ms", value_parser = slice)]
    pub(crate) slice: Duration,
    /// Pin workers to a core: auto, none, or its number
    #[arg(long, value_name = "CORE", default_value = "auto", num_args = 0..=1, default_missing_value = "auto", value_parser = pin)]
    pub(crate) pin: Pin,
    /// Use the same memory layout in every process (ASLR off), instead of another in each
    #[arg(long)]
    pub(crate) fixed_layout: bool,

    #[command(flatten)]
    pub(crate) thresholds: ThresholdOptions,
    #[command(flatten)]
    pub(crate) stored_in: StoredIn,
    #[command(flatten)]
    pub(crate) output: Output,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PartArg {
    All,
    One(Part),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pin {
    Auto,
    None,
    Core(u32),
}

fn part(text: &str) -> Result<PartArg, String> {
    if text.eq_ignore_ascii_case("all") {
        return Ok(PartArg::All);
    }
    text.parse().map(PartArg::One).map_err(|_: String| {
        let names = Part::ALL.iter().map(|part| part.name());
        let names: Vec<_> = names.chain(["all"]).collect();
        format!("unknown part {text:?}; {}", suggestion(text, &names))
    })
}

fn pin(text: &str) -> Result<Pin, String> {
    match text {
        "auto" => Ok(Pin::Auto),
        "none" => Ok(Pin::None),
        core => core
            .parse()
            .map(Pin::Core)
            .map_err(|_| "auto, none, or the number of a core".to_owned()),
    }
}

fn budget(text: &str) -> Result<Duration, String> {
    between(text, Duration::from_secs(1), Duration::from_secs(3600))
}

fn trial(text: &str) -> Result<Duration, String> {
    between(text, Duration::from_millis(5), Duration::from_secs(60))
}

fn slice(text: &str) -> Result<Duration, String> {
    between(text, Duration::from_micros(500), Duration::from_secs(1))
}
