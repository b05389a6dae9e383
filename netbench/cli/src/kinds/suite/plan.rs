use std::{collections::BTreeSet, path::PathBuf, time::Duration};

use anyhow::Context;
use clap::Args;
use netbench_model::{
    LayoutRecord, Part, PinRecord, Preset, SuitePlan, Timing, Variants, Work, suggestion,
};
use netbench_runner::{Launch, Layout, Worker, Workers};
use netbench_stats::FEWEST_OPERATIONS;

use super::{
    cases::{scenarios, stacks},
    idle,
};
use crate::{
    client::millis,
    exit::{WrongInput, bail_input},
    options::{Output, StackOptions, StartOptions, StoredIn, ThresholdOptions, between},
    output::shown,
    progress::Progress,
    stack_names::{new_seed, stack_names},
    workers::{self, Terminal},
};

pub(crate) const EXAMPLES: &str = "\
Examples:
  netbench suite                                 handshakes and data transfer
  netbench suite --preset rustls-vs-openssl
  netbench suite --preset rustls-2026 --timing bench   as its programs time it
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
    /// figures of every stack that is built (all-stacks) or of all versions of one (history), or stacks with their
    /// variants (rustls-matrix, avx512)
    #[arg(long, value_name = "NAME", conflicts_with = "parts")]
    pub(crate) preset: Option<Preset>,
    /// Time the whole work of each side (whole), or the part that the programs of published tables time (bench): without
    /// the creation of sessions, and without taking records out of the library
    #[arg(long, value_name = "WORK", default_value = "whole")]
    pub(crate) timing: Timing,
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
    #[arg(long, value_name = "TIME", default_value = "280s", value_parser = between(Duration::from_secs(1), Duration::from_secs(3600)), requires = "until_decided")]
    pub(crate) budget: Duration,
    /// Build no worker: leave out the versions of a history that are not built, and refuse other stacks
    #[arg(long)]
    pub(crate) no_build: bool,
    /// Time that each stack spends on a scenario in a round
    #[arg(long, value_name = "TIME", default_value = "100ms", value_parser = between(Duration::from_millis(5), Duration::from_secs(60)))]
    pub(crate) trial: Duration,
    /// Shortest time of a turn's measured operations: raises their number above 20, for all stacks alike
    #[arg(long, value_name = "TIME", default_value = "4ms", value_parser = between(Duration::from_micros(500), Duration::from_secs(1)))]
    pub(crate) slice: Duration,
    /// Pin workers to a core: auto, none, or its number
    #[arg(long, value_name = "CORE", default_value = "auto", num_args = 0..=1, default_missing_value = "auto", value_parser = parse_pin)]
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

fn parse_pin(text: &str) -> Result<Pin, String> {
    match text {
        "auto" => Ok(Pin::Auto),
        "none" => Ok(Pin::None),
        core => core
            .parse()
            .map(Pin::Core)
            .map_err(|_| "auto, none, or the number of a core".to_owned()),
    }
}

/// The number of rounds without `--rounds`.
const ROUNDS: u32 = 30;

/// The number of rounds with `--until-decided` and without `--rounds`.
const MOST_ROUNDS: u32 = 60;

/// Returns the plan of the options, without the digest of the certificates.
pub(crate) fn plan(options: &Suite) -> anyhow::Result<SuitePlan> {
    let rounds = options.rounds.unwrap_or(if options.until_decided {
        MOST_ROUNDS
    } else {
        ROUNDS
    });
    let (idle, idle_beside) = idle::known();
    let stacks = match (options.stacks.named(), options.preset) {
        (None, Some(Preset::AllStacks)) => built_stacks()?,
        (named, Some(Preset::History)) => versions(named.unwrap_or_default(), options)?,
        (None, Some(preset)) => stacks(preset)?.unwrap_or_else(|| options.stacks.names()),
        _ => options.stacks.names(),
    };
    if options.no_build && !options.list {
        all_built(&stacks, options)?;
    }
    Ok(SuitePlan {
        seed: options.start.seed.unwrap_or_else(new_seed),
        stacks: stack_names(&stacks),
        preset: options.preset.map(|preset| preset.to_string()),
        scenarios: scenarios(options)?,
        rounds,
        until_decided: options.until_decided,
        budget_ms: options.until_decided.then(|| millis(options.budget)),
        trial_ms: millis(options.trial),
        slice_us: u64::try_from(options.slice.as_micros()).unwrap_or(u64::MAX),
        turn_operations: Some(FEWEST_OPERATIONS),
        pin: pin(options.pin)?,
        layout: if options.fixed_layout {
            LayoutRecord::Fixed
        } else {
            LayoutRecord::Varied
        },
        idle,
        idle_beside,
        pki_sha256: String::new(),
    })
}

/// Returns the memory layout of a plan that the system permits, by starting a worker.
pub(super) fn permitted_layout(
    plan: &SuitePlan,
    workers: &Workers,
    progress: &Progress,
) -> anyhow::Result<LayoutRecord> {
    let program = plan.stacks.first().and_then(|s| workers.program(s.stack()));
    let Some(program) = program.filter(|_| plan.layout == LayoutRecord::Fixed) else {
        return Ok(plan.layout);
    };
    let launch = Launch {
        core: plan.core(),
        layout: Layout::Fixed,
        ..Launch::default()
    };
    let worker = Worker::start(program, &launch).context("cannot start a worker")?;
    if worker.has_fixed_layout() {
        Ok(LayoutRecord::Fixed)
    } else {
        progress.stage("this system does not permit a fixed layout of memory (ASLR off)");
        Ok(LayoutRecord::Random)
    }
}

/// Returns the library that counts allocations, if the plan needs it and it can be built.
pub(super) fn heap_library(plan: &SuitePlan, progress: &Progress) -> Option<PathBuf> {
    let mut scenarios = plan.scenarios.iter();
    if !scenarios.any(|scenario| matches!(scenario.work, Work::Memory { .. })) {
        return None;
    }
    match workers::heap_library() {
        Ok(path) => Some(path),
        Err(error) => {
            progress.stage(&format!("allocations will not be counted: {error:#}"));
            None
        }
    }
}

/// The stack that all others are compared with, if it is built. It supports every case, and is the most widely used.
const USUAL: &str = "openssl";

/// Returns the stacks with built workers, the usual one first, and prints a note about the others.
fn built_stacks() -> anyhow::Result<Vec<String>> {
    let stacks = netbench_stacks::stacks()?.iter();
    let compared = stacks.filter(|source| source.is_compared);
    let compared: Vec<String> = compared.map(|source| source.name.clone()).collect();
    let (mut there, missing) = by_presence(&compared)?;
    if !missing.is_empty() {
        note!(
            "netbench: left out, because their workers are not built (netbench stacks build): {}",
            missing.join(", ")
        );
    }
    there.sort_by_key(|stack| stack != USUAL);
    if there.len() < 2 {
        bail_input!(
            "--preset all-stacks compares the stacks whose workers are built; netbench stacks build --all builds them"
        );
    }
    Ok(there)
}

/// Separates the stacks whose workers are built from the others.
fn by_presence(stacks: &[String]) -> anyhow::Result<(Vec<String>, Vec<String>)> {
    let (mut there, mut missing) = (Vec::new(), Vec::new());
    for stack in stacks {
        let found = workers::known(stack)?.program().find()?;
        let names = if found.is_some() {
            &mut there
        } else {
            &mut missing
        };
        names.push(stack.clone());
    }
    Ok((there, missing))
}

/// Refuses stacks whose workers are neither built nor the user's.
fn all_built(stacks: &[String], options: &Suite) -> anyhow::Result<()> {
    let own = options.start.own.worker.iter();
    let own: BTreeSet<&String> = own.map(|(name, _)| name).collect();
    let others = stacks.iter().filter(|stack| !own.contains(stack));
    let (_, missing) = by_presence(&others.cloned().collect::<Vec<_>>())?;
    if !missing.is_empty() {
        let missing = missing.join(" ");
        bail_input!(
            "--no-build: these workers are not built: {missing}; build them with netbench stacks build {missing}"
        );
    }
    Ok(())
}

/// Returns the versions of a stack, or the named versions. Builds missing workers, except with `--no-build`, and prints a
/// note about versions that are left out.
fn versions(named: &[String], options: &Suite) -> anyhow::Result<Vec<String>> {
    let [stack] = named else {
        if named.is_empty() {
            bail_input!("--preset history needs a stack with versions, such as --stack openssl");
        }
        return Ok(named.to_vec());
    };
    let (base, variants) = Variants::split(stack).map_err(|e| WrongInput(e.to_string()))?;
    let versions = netbench_stacks::stacks()?.iter().filter_map(|source| {
        let version = source.version_of(&base)?;
        Some(format!("{base}@{version}{variants}"))
    });
    let versions: Vec<String> = versions.collect();
    if versions.is_empty() {
        bail_input!(
            "--preset history: there are no versions of {}; these have some: {}",
            shown(stack),
            workers::versioned(netbench_stacks::stacks()?)
        );
    }
    if options.list {
        return Ok(versions);
    }
    if !options.no_build {
        for version in &versions {
            if let Err(error) = workers::known(version)?.program().find_or_build(&Terminal) {
                note!("netbench: {version} is left out: {error}");
            }
        }
    }
    let (there, missing) = by_presence(&versions)?;
    let build = format!("netbench stacks build {}", missing.join(" "));
    if there.len() < 2 {
        bail_input!("--preset history needs two versions of {base} that are built: {build}");
    }
    if options.no_build && !missing.is_empty() {
        note!(
            "netbench: left out, because their workers are not built: {}; {build} builds them",
            missing.join(", ")
        );
    }
    Ok(there)
}

/// Returns the core to which workers are pinned: by default the last that this process may use, if it may use several.
pub(super) fn pin(pin: Pin) -> anyhow::Result<PinRecord> {
    let usable = usable_cores();
    match (pin, usable.as_slice()) {
        (Pin::Auto, [_, .., last]) => Ok(PinRecord::Core(*last)),
        (Pin::None | Pin::Auto, _) => Ok(PinRecord::Free),
        (Pin::Core(core), usable) if usable.contains(&core) => Ok(PinRecord::Core(core)),
        (Pin::Core(core), usable) => Err(WrongInput(format!(
            "--pin {core}: this process may use the cores {usable:?}"
        ))
        .into()),
    }
}

/// Returns the cores from the kernel's list, such as `0-3,6`.
fn usable_cores() -> Vec<u32> {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let list = status
        .lines()
        .find_map(|line| line.strip_prefix("Cpus_allowed_list:"))
        .unwrap_or_default();
    list.trim()
        .split(',')
        .filter_map(|range| {
            let (first, last) = range.split_once('-').unwrap_or((range, range));
            Some(first.parse::<u32>().ok()?..=last.parse().ok()?)
        })
        .flatten()
        .collect()
}
