use std::time::{Duration, Instant};

use anyhow::Context;
use netbench_model::{
    LayoutRecord, PinRecord, Preset, Scenario, StackName, SuiteManifest, SuitePlan, Variants, Work,
};
use netbench_runner::{Launch, Layout, Materials, SuiteTrials, Worker, Workers};
use netbench_stats::FEWEST_OPERATIONS;

use super::{
    args::{Pin, Suite},
    cases::{cores, scenarios, stacks},
    idle::{self, KnownIdle},
};
use crate::{
    cost::Trials,
    exit::{WrongInput, bail_input},
    output::shown,
    progress::Progress,
    stack_names::{new_seed, stack_names},
    workers::{self, Program, known_stacks},
};

/// The number of rounds without `--rounds`.
const ROUNDS: u32 = 30;

/// The number of rounds with `--until-decided` and without `--rounds`.
const MOST_ROUNDS: u32 = 60;

/// The user's options, read and validated.
pub(crate) struct SuiteSettings {
    pub(crate) seed: u64,
    pub(crate) stacks: Vec<StackName>,
    pub(crate) preset: Option<Preset>,
    pub(crate) scenarios: Vec<Scenario>,
    pub(crate) rounds: u32,
    pub(crate) until_decided: bool,
    pub(crate) budget: Duration,
    pub(crate) trial: Duration,
    pub(crate) slice: Duration,
    pub(crate) core: Option<u32>,
    pub(crate) layout: LayoutRecord,
    pub(crate) name: String,
    idle: KnownIdle,
    pki_sha256: Option<String>,
}

impl SuiteSettings {
    pub(crate) fn of_options(options: &Suite) -> anyhow::Result<Self> {
        let rounds = options.rounds.unwrap_or(if options.until_decided {
            MOST_ROUNDS
        } else {
            ROUNDS
        });
        let name = options.preset.map_or("suite", Preset::name);
        Ok(Self {
            seed: options.start.seed.unwrap_or_else(new_seed),
            stacks: stack_names(&match (options.stacks.named(), options.preset) {
                (None, Some(Preset::AllStacks)) => built_stacks()?,
                (named, Some(Preset::History)) => versions(named.unwrap_or_default())?,
                (None, Some(preset)) => stacks(preset)?.unwrap_or_else(|| options.stacks.names()),
                _ => options.stacks.names(),
            }),
            preset: options.preset,
            scenarios: scenarios(options)?,
            rounds,
            until_decided: options.until_decided,
            budget: options.budget,
            trial: options.trial,
            slice: options.slice,
            core: core(options.pin)?,
            layout: if options.fixed_layout {
                LayoutRecord::Fixed
            } else {
                LayoutRecord::Varied
            },
            name: name.to_owned(),
            idle: idle::known(),
            pki_sha256: None,
        })
    }

    pub(super) fn of_manifest(manifest: &SuiteManifest) -> anyhow::Result<Self> {
        let plan = &manifest.plan;
        Ok(Self {
            seed: plan.seed,
            stacks: plan.stacks.clone(),
            preset: plan.preset.as_ref().and_then(|name| name.parse().ok()),
            scenarios: plan.scenarios.clone(),
            rounds: plan.rounds,
            until_decided: plan.until_decided,
            budget: Duration::from_millis(plan.budget_ms.unwrap_or_default()),
            trial: Duration::from_millis(plan.trial_ms),
            slice: Duration::from_micros(plan.slice_us),
            core: match plan.pin {
                PinRecord::Core(core) => self::core(Pin::Core(core))?,
                PinRecord::Free => None,
            },
            layout: plan.layout,
            name: manifest.name.clone(),
            idle: KnownIdle {
                any: plan.idle,
                beside: plan.idle_beside.clone(),
            },
            pki_sha256: Some(plan.pki_sha256.clone()),
        })
    }

    pub(crate) fn trials(&self) -> Trials<'_> {
        Trials {
            scenarios: &self.scenarios,
            stacks: self.stacks.len(),
            rounds: self.rounds,
            trial: self.trial,
            slice: self.slice,
            budget: self.until_decided.then_some(self.budget),
            cores: cores(),
        }
    }

    pub(crate) fn record(&self, plan: &SuiteTrials) -> SuitePlan {
        let number = |n: u128| u64::try_from(n).unwrap_or(u64::MAX);
        let budget = self.until_decided.then(|| number(self.budget.as_millis()));
        SuitePlan {
            seed: plan.seed,
            stacks: plan.stacks.clone(),
            preset: self.preset.map(|preset| preset.to_string()),
            scenarios: plan.scenarios.clone(),
            rounds: plan.rounds,
            until_decided: self.until_decided,
            budget_ms: budget,
            trial_ms: number(plan.trial.as_millis()),
            slice_us: number(plan.slice.as_micros()),
            turn_operations: Some(FEWEST_OPERATIONS),
            pin: plan.core.map_or(PinRecord::Free, PinRecord::Core),
            layout: plan.layout,
            idle: self.idle.any,
            idle_beside: self.idle.beside.clone(),
            pki_sha256: plan.materials.sha256().to_owned(),
        }
    }

    /// Returns the complete input of the trials.
    pub(crate) fn plan(
        &self,
        workers: &Workers,
        progress: &Progress,
    ) -> anyhow::Result<SuiteTrials> {
        let materials = Materials::of(&self.scenarios)?;
        if let Some(before) = &self.pki_sha256
            && before != materials.sha256()
        {
            bail_input!(
                "run {} cannot be continued: it was started with other certificates",
                self.name
            );
        }
        let holds = |scenario: &Scenario| matches!(scenario.work, Work::Memory { .. });
        let heap_library = if self.scenarios.iter().any(holds) {
            match workers::heap_library() {
                Ok(path) => Some(path),
                Err(error) => {
                    progress.stage(&format!("allocations will not be counted: {error:#}"));
                    None
                }
            }
        } else {
            None
        };
        Ok(SuiteTrials {
            seed: self.seed,
            stacks: self.stacks.clone(),
            scenarios: self.scenarios.clone(),
            materials,
            rounds: self.rounds,
            deadline: self.until_decided.then(|| Instant::now() + self.budget),
            trial: self.trial,
            slice: self.slice,
            core: self.core,
            layout: self.permitted_layout(workers, progress)?,
            heap_library,
            valgrind: workers::in_path("valgrind"),
            jobs: cores().into(),
        })
    }

    /// Returns the memory layout that the system permits, by starting a worker.
    fn permitted_layout(
        &self,
        workers: &Workers,
        progress: &Progress,
    ) -> anyhow::Result<LayoutRecord> {
        let program = self.stacks.first().and_then(|s| workers.program(s.stack()));
        let Some(program) = program.filter(|_| self.layout == LayoutRecord::Fixed) else {
            return Ok(self.layout);
        };
        let launch = Launch {
            core: self.core,
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
}

/// The stack that all others are compared with, if it is built. It supports every case, and is the most widely used.
const USUAL: &str = "openssl";

/// Returns the stacks with built workers, the usual one first, and prints a note about the others.
fn built_stacks() -> anyhow::Result<Vec<String>> {
    let (mut there, mut missing) = (Vec::new(), Vec::new());
    for source in known_stacks()? {
        if source.is_version() {
            continue;
        }
        let found = Program::of(source).find()?;
        let list = if found.is_some() {
            &mut there
        } else {
            &mut missing
        };
        list.push(source.name.clone());
    }
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

/// Returns the versions of a stack with built workers, and prints a note about the others; or the named versions.
fn versions(named: &[String]) -> anyhow::Result<Vec<String>> {
    let [stack] = named else {
        if named.is_empty() {
            bail_input!("--preset history needs a stack with versions, such as --stack openssl");
        }
        return Ok(named.to_vec());
    };
    let (base, variants) = Variants::split(stack).map_err(|e| WrongInput(e.to_string()))?;
    let lines = known_stacks()?.iter().filter_map(|source| {
        let line = source.name.strip_prefix(&base)?.strip_prefix('@')?;
        Some(format!("{base}@{line}{variants}"))
    });
    let (mut there, mut missing) = (Vec::new(), Vec::new());
    for version in lines {
        let found = workers::known(&version)?.program().find()?;
        let list = if found.is_some() {
            &mut there
        } else {
            &mut missing
        };
        list.push(version);
    }
    if there.is_empty() && missing.is_empty() {
        bail_input!(
            "--preset history: there are no versions of {}; these have some: {}",
            shown(stack),
            workers::versioned(known_stacks()?)
        );
    }
    let build = format!("netbench stacks build {}", missing.join(" "));
    if there.len() < 2 {
        bail_input!("--preset history needs two versions of {base} that are built: {build}");
    }
    if !missing.is_empty() {
        note!(
            "netbench: left out, because their workers are not built: {}; {build} builds them",
            missing.join(", ")
        );
    }
    Ok(there)
}

/// Returns the core to which workers are pinned: the last that this process may use, if it may use several.
fn core(pin: Pin) -> anyhow::Result<Option<u32>> {
    let usable = usable_cores();
    match pin {
        Pin::None => Ok(None),
        Pin::Auto => Ok(usable.last().copied().filter(|_| usable.len() > 1)),
        Pin::Core(core) if usable.contains(&core) => Ok(Some(core)),
        Pin::Core(core) => Err(WrongInput(format!(
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
