use std::{
    num::NonZero,
    thread,
    time::{Duration, Instant},
};

use anyhow::Context;
use globset::{Glob, GlobMatcher};
use netbench_model::{
    IdleReference, LayoutRecord, Part, PinRecord, Preset, Scenario, StackName, SuiteManifest,
    SuitePlan, Work, catalogue, usual_scenarios,
};
use netbench_runner::{Launch, Layout, Materials, Worker, Workers};

use super::{
    args::{PartArg, Pin, Suite},
    idle,
};
use crate::{
    exit::WrongInput,
    progress::Progress,
    stack_names::{new_seed, stack_names},
    workers,
};

/// Rounds without `--rounds`.
const ROUNDS: u32 = 30;

/// Rounds without `--rounds`, but with `--until-decided`.
const MOST_ROUNDS: u32 = 60;

/// Names that a wrong one may have been meant for.
const NEAREST: usize = 3;

/// What the user asked for, read and found right.
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
    idle: Option<IdleReference>,
    pki_sha256: Option<String>,
}

impl SuiteSettings {
    /// From the command line.
    pub(crate) fn of_options(options: &Suite) -> anyhow::Result<Self> {
        let rounds = options.rounds.unwrap_or(if options.until_decided {
            MOST_ROUNDS
        } else {
            ROUNDS
        });
        let name = options.preset.map_or("suite", Preset::name);
        Ok(Self {
            seed: options.start.seed.unwrap_or_else(new_seed),
            stacks: stack_names(&options.stacks.stack),
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
            name: options.name.clone().unwrap_or_else(|| name.to_owned()),
            idle: idle::known(),
            pki_sha256: None,
        })
    }

    /// From the run to resume.
    pub(crate) fn of_manifest(options: &Suite, manifest: &SuiteManifest) -> anyhow::Result<Self> {
        let plan = &manifest.plan;
        Ok(Self {
            seed: plan.seed,
            stacks: plan.stacks.clone(),
            preset: plan.preset.as_ref().and_then(|name| name.parse().ok()),
            scenarios: plan.scenarios.clone(),
            rounds: plan.rounds,
            until_decided: plan.until_decided,
            budget: plan.budget_ms.map_or(options.budget, Duration::from_millis),
            trial: Duration::from_millis(plan.trial_ms),
            slice: Duration::from_micros(plan.slice_us),
            core: match plan.pin {
                PinRecord::Core(core) => self::core(Pin::Core(core))?,
                PinRecord::Free => None,
            },
            layout: plan.layout,
            name: manifest.name.clone(),
            idle: plan.idle,
            pki_sha256: Some(plan.pki_sha256.clone()),
        })
    }

    /// As the manifest has it.
    pub(crate) fn record(&self, plan: &netbench_runner::SuitePlan) -> SuitePlan {
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
            pin: plan.core.map_or(PinRecord::Free, PinRecord::Core),
            layout: plan.layout,
            idle: self.idle,
            pki_sha256: plan.materials.sha256().to_owned(),
        }
    }

    /// Everything that trials need, complete.
    pub(crate) fn plan(
        &self,
        workers: &Workers,
        progress: &Progress,
    ) -> anyhow::Result<netbench_runner::SuitePlan> {
        let materials = Materials::of(&self.scenarios)?;
        if let Some(before) = &self.pki_sha256
            && before != materials.sha256()
        {
            return Err(WrongInput(format!(
                "run {} was begun with other certificates: it cannot be resumed",
                self.name
            ))
            .into());
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
        Ok(netbench_runner::SuitePlan {
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

    /// The layout as the system permits it, found by starting a worker.
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

/// The scenarios that were asked for, in the order of the catalogue.
fn scenarios(options: &Suite) -> anyhow::Result<Vec<Scenario>> {
    if let Some(preset) = options.preset {
        return Ok(preset.scenarios());
    }
    let parts: Vec<Part> = if options.parts.contains(&PartArg::All) {
        Part::ALL.to_vec()
    } else {
        let one = |part: &PartArg| match part {
            PartArg::One(part) => Some(*part),
            PartArg::All => None,
        };
        options.parts.iter().filter_map(one).collect()
    };
    if options.cases.is_empty() {
        let parts = if parts.is_empty() {
            vec![Part::Handshake, Part::Bulk]
        } else {
            parts
        };
        let usual = Part::ALL.iter().filter(|part| parts.contains(part));
        return Ok(usual
            .flat_map(|part| usual_scenarios(*part, cores()))
            .collect());
    }
    let all: Vec<Scenario> = catalogue(cores())
        .into_iter()
        .filter(|scenario| parts.is_empty() || parts.contains(&scenario.part()))
        .collect();
    let mut chosen = vec![false; all.len()];
    for pattern in &options.cases {
        let glob = Glob::new(pattern)
            .map_err(|e| WrongInput(format!("--case {}: {}", pattern.escape_debug(), e.kind())))?
            .compile_matcher();
        let mut any = false;
        // Counting takes a hundred times as long: only where it is asked for by name or part.
        let counts = !parts.is_empty() || pattern.starts_with("instructions");
        for (scenario, chosen) in all.iter().zip(&mut chosen) {
            if (counts || !scenario.counted) && matches(&glob, scenario) {
                *chosen = true;
                any = true;
            }
        }
        if !any {
            return Err(WrongInput(format!(
                "--case {}: no case has such a name; the nearest are {}",
                pattern.escape_debug(),
                nearest(pattern, &all).join(", ")
            ))
            .into());
        }
    }
    let chosen = all.into_iter().zip(chosen).filter(|(_, chosen)| *chosen);
    Ok(chosen.map(|(scenario, _)| scenario).collect())
}

/// A glob names scenarios by their own name or by that of a case: a scenario is always measured whole.
fn matches(glob: &GlobMatcher, scenario: &Scenario) -> bool {
    glob.is_match(scenario.to_string())
        || scenario.cases().any(|case| glob.is_match(case.to_string()))
}

fn nearest(pattern: &str, all: &[Scenario]) -> Vec<String> {
    let bare: String = pattern.chars().filter(|c| !"*?[]{}".contains(*c)).collect();
    let mut names: Vec<(f64, String)> = all
        .iter()
        .map(|scenario| {
            let name = scenario.to_string();
            (-strsim::jaro_winkler(&bare, &name), name)
        })
        .collect();
    names.sort_by(|a, b| a.0.total_cmp(&b.0));
    names.truncate(NEAREST);
    names.into_iter().map(|(_, name)| name).collect()
}

fn cores() -> u16 {
    let cores = thread::available_parallelism().map_or(1, NonZero::get);
    u16::try_from(cores).unwrap_or(u16::MAX)
}

/// The core to hold workers to: the last that this process may use, where it may use more than one.
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

/// From the kernel's list, such as `0-3,6`.
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
