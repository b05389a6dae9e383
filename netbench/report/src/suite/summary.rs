use std::collections::BTreeMap;

use netbench_model::{
    Case, LayoutRecord, Measure, Negotiated, Part, SCHEMA_VERSION, StackName, SuiteManifest,
    SuiteOutcome, SuiteSample, Unit,
};
use netbench_stats::PairedRatio;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{PublishedTable, figures::figures, published, verdicts::Verdicts};
use crate::connect::about_stack;

/// What a run of the in-memory suite says. Every figure is one of which less is better, and every
/// ratio is the other stack's over the first one's: under 1 the other is faster, or takes less.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SuiteSummary {
    /// The schema's version.
    pub schema: u32,
    /// Always `suite`.
    pub kind: String,
    /// Which run it is.
    pub run: SuiteHead,
    /// Every case, in the order of the plan.
    pub cases: Vec<CaseRow>,
    /// The table that the preset reproduces, as others have published it.
    pub published: Option<PublishedTable>,
    /// Trials that failed, with the error.
    pub failures: Vec<SuiteFailure>,
    /// What a stack or the machine has no way to do.
    pub unsupported: Vec<SuiteFailure>,
    /// What a reader must know before quoting a figure.
    pub warnings: Vec<String>,
    /// The machine.
    pub environment: BTreeMap<String, String>,
}

/// Which run a summary is of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SuiteHead {
    /// Its name.
    pub name: String,
    /// Start, RFC 3339, UTC.
    pub started: String,
    /// End; none where it was not finished.
    pub finished: Option<String>,
    /// The version of netbench.
    pub netbench: String,
    /// The command line of its first session.
    pub command: Vec<String>,
    /// The seed.
    pub seed: u64,
    /// The preset, where one was asked for.
    pub preset: Option<String>,
    /// The stacks in their order, with library and provider.
    pub stacks: Vec<(StackName, String)>,
    /// The most rounds of a scenario.
    pub rounds: u32,
    /// Whether scenarios ended as soon as they were decided.
    pub until_decided: bool,
    /// Samples taken.
    pub samples: u64,
}

/// One case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CaseRow {
    /// Its name.
    pub name: String,
    /// What it is.
    pub case: Case,
    /// The part of the suite.
    pub part: Part,
    /// What its figures count.
    pub unit: Unit,
    /// Each stack's figures; a stack without any is in `failures` or `unsupported`.
    pub stacks: Vec<StackFigures>,
    /// Each other stack against the first.
    pub verdicts: Vec<CaseVerdict>,
}

/// One stack's figures in one case, in the case's unit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StackFigures {
    /// The stack.
    pub stack: StackName,
    /// Rounds, each in a process of its own.
    pub rounds: u64,
    /// Operations.
    pub operations: u64,
    /// What verdicts rest on: of timings each turn's 10th percentile, the median over a round's
    /// undisturbed turns, and of those the median; of everything else the median over rounds.
    pub low: f64,
    /// Operations a second at `low`; none of what is not timed.
    pub per_second: Option<f64>,
    /// Bytes of plaintext a second at `low`, where data is moved.
    pub bytes_per_second: Option<f64>,
    /// The mean.
    pub mean: Option<f64>,
    /// The 5th percentile of all operations.
    pub p5: Option<f64>,
    /// The median.
    pub p50: Option<f64>,
    /// The 95th percentile.
    pub p95: Option<f64>,
    /// The 99th percentile.
    pub p99: Option<f64>,
    /// The longest or largest.
    pub max: Option<f64>,
    /// The median absolute deviation from the median, not scaled.
    pub mad: Option<f64>,
    /// Operations of more than three times the median. They are in every figure.
    pub outliers: u64,
    /// The median of the thread's CPU time, of operations that only that clock was read around.
    pub cpu_p50: Option<f64>,
    /// The median of the per-round figures that verdicts rest on, one for each round.
    pub by_round: Vec<f64>,
    /// What both sides agreed on, as the client saw it.
    pub negotiated: Option<Negotiated>,
}

/// One stack against the first, in one case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CaseVerdict {
    /// The first stack.
    pub first: StackName,
    /// The other stack.
    pub other: StackName,
    /// The paired ratio with its verdict on the other.
    pub paired: PairedRatio,
    /// Pairs of turns that there are; those in which something disturbed the machine are not in
    /// `paired`.
    pub turns: u64,
}

/// Trials without figures.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SuiteFailure {
    /// The scenario's name.
    pub scenario: String,
    /// The stack.
    pub stack: StackName,
    /// The class of the failure; none of what is unsupported.
    pub class: Option<String>,
    /// Why, in the words of the first.
    pub reason: String,
    /// How many trials.
    pub trials: u64,
}

/// What a run says, from its manifest and all its samples.
pub fn summarize_suite(manifest: &SuiteManifest, samples: &[SuiteSample]) -> SuiteSummary {
    let plan = &manifest.plan;
    let verdicts = Verdicts::of(plan);
    let cases: Vec<CaseRow> = plan
        .scenarios
        .iter()
        .flat_map(netbench_model::Scenario::cases)
        .map(|case| row(manifest, samples, &verdicts, case))
        .collect();
    let (failures, unsupported) = without_figures(manifest, samples);
    let mut summary = SuiteSummary {
        schema: SCHEMA_VERSION,
        kind: "suite".to_owned(),
        run: head(manifest, samples),
        cases,
        published: plan.preset.as_deref().and_then(published::published),
        failures,
        unsupported,
        warnings: manifest.warnings.clone(),
        environment: manifest.environment.facts.clone(),
    };
    warn(&mut summary, manifest);
    summary
}

fn row(
    manifest: &SuiteManifest,
    samples: &[SuiteSample],
    verdicts: &Verdicts,
    case: Case,
) -> CaseRow {
    let stacks = &manifest.plan.stacks;
    CaseRow {
        name: case.to_string(),
        case,
        part: case.scenario.part(),
        unit: case.unit(),
        stacks: stacks
            .iter()
            .filter_map(|stack| figures(&case, stack, samples))
            .collect(),
        verdicts: stacks
            .split_first()
            .map(|(first, others)| {
                others
                    .iter()
                    .filter_map(|other| verdicts.of_case(&case, first, other, samples))
                    .collect()
            })
            .unwrap_or_default(),
    }
}

fn head(manifest: &SuiteManifest, samples: &[SuiteSample]) -> SuiteHead {
    let plan = &manifest.plan;
    let about = |stack: &StackName| about_stack(&manifest.workers, stack, |_| None);
    SuiteHead {
        name: manifest.name.clone(),
        started: manifest.started.clone(),
        finished: manifest.finished.clone(),
        netbench: manifest.netbench.clone(),
        command: manifest
            .sessions
            .first()
            .map(|session| session.command.clone())
            .unwrap_or_default(),
        seed: plan.seed,
        preset: plan.preset.clone(),
        stacks: plan
            .stacks
            .iter()
            .map(|stack| (stack.clone(), about(stack)))
            .collect(),
        rounds: samples.iter().map(|s| s.round + 1).max().unwrap_or(0),
        until_decided: plan.until_decided,
        samples: samples.len() as u64,
    }
}

fn without_figures(
    manifest: &SuiteManifest,
    samples: &[SuiteSample],
) -> (Vec<SuiteFailure>, Vec<SuiteFailure>) {
    let (mut failures, mut unsupported) = (Vec::new(), Vec::new());
    for scenario in &manifest.plan.scenarios {
        for stack in &manifest.plan.stacks {
            let name = scenario.to_string();
            let these = samples
                .iter()
                .filter(|s| s.name == name && s.stack == *stack);
            let row = |class, reason: &str| SuiteFailure {
                scenario: name.clone(),
                stack: stack.clone(),
                class,
                reason: reason.to_owned(),
                trials: 1,
            };
            for sample in these {
                match &sample.outcome {
                    SuiteOutcome::Ok(_) => {}
                    SuiteOutcome::Failed(failure) => {
                        let class = Some(failure.class.to_string());
                        add(&mut failures, row(class, &failure.detail));
                    }
                    SuiteOutcome::Unsupported { reason } => {
                        add(&mut unsupported, row(None, reason));
                    }
                }
            }
        }
    }
    (failures, unsupported)
}

/// Counts a trial to the row before it, where that is of the same scenario, stack and class.
fn add(rows: &mut Vec<SuiteFailure>, row: SuiteFailure) {
    match rows.last_mut() {
        Some(last)
            if (&last.scenario, &last.stack, &last.class)
                == (&row.scenario, &row.stack, &row.class) =>
        {
            last.trials += 1;
        }
        _ => rows.push(row),
    }
}

fn warn(summary: &mut SuiteSummary, manifest: &SuiteManifest) {
    let mut warnings = Vec::new();
    let mut say = |text: String| warnings.push(text);
    if manifest.finished.is_none() {
        say("The run was not finished: it has fewer rounds than were asked for.".to_owned());
    }
    if manifest.plan.layout == LayoutRecord::Random {
        say(
            "The layout of the workers' memory was random: this system does not permit a fixed one, and \
             differences of a percent may come from the layout."
                .to_owned(),
        );
    }
    let debug = manifest
        .workers
        .iter()
        .filter(|worker| worker.build.get("profile").is_some_and(|p| p == "debug"));
    for worker in debug {
        say(format!(
            "The worker of {} was built without optimisation: its figures mean nothing.",
            worker.stack
        ));
    }
    let few = summary
        .cases
        .iter()
        .flat_map(|case| &case.verdicts)
        .filter(|verdict| verdict.paired.interval.is_none())
        .count();
    if few > 0 {
        say(format!(
            "{few} comparisons have too few rounds for a verdict: timings need six, everything else three."
        ));
    }
    let disturbed = summary.disturbed_share();
    if disturbed > 0.25 {
        say(format!(
            "The machine was busy with other things: {:.0} % of all turns were disturbed. Verdicts do not rest \
             on those, but means and tails have them.",
            disturbed * 100.0
        ));
    }
    summary.warnings.extend(warnings);
}

impl SuiteSummary {
    /// How many verdicts of each kind there are on `other`.
    pub fn tally(&self, other: &StackName) -> BTreeMap<&'static str, u64> {
        let mut tally = BTreeMap::new();
        for verdict in self.cases.iter().flat_map(|case| &case.verdicts) {
            if verdict.other == *other {
                *tally.entry(verdict.paired.verdict.name()).or_default() += 1;
            }
        }
        tally
    }

    /// The share of timed turns in which something disturbed the machine.
    pub fn disturbed_share(&self) -> f64 {
        let timed = self.cases.iter().filter(|c| c.unit == Unit::Nanoseconds);
        let (mut all, mut kept) = (0, 0);
        for verdict in timed.flat_map(|case| &case.verdicts) {
            all += verdict.turns;
            kept += verdict.paired.pairs;
        }
        if all == 0 {
            return 0.0;
        }
        1.0 - kept as f64 / all as f64
    }

    /// Whether any two stacks could be compared.
    pub fn compares(&self) -> bool {
        self.cases.iter().any(|case| !case.verdicts.is_empty())
    }

    /// Whether there is a figure to read: two stacks could be compared, or the only one was measured.
    pub fn tells(&self) -> bool {
        self.compares() || self.run.stacks.len() == 1 && self.measures()
    }

    /// Whether any stack has a figure.
    pub fn measures(&self) -> bool {
        self.cases.iter().any(|case| !case.stacks.is_empty())
    }
}

/// What of a held session's figures belongs to a measure, for one session.
pub(super) fn held_figure(held: &netbench_model::Held, measure: Measure) -> Option<f64> {
    let each = |total: u64| total as f64 / f64::from(held.sessions.max(1));
    match measure {
        Measure::Peak => Some(held.peak_bytes as f64),
        Measure::PerSession => Some(each(held.after_bytes.saturating_sub(held.before_bytes))),
        Measure::Heap => held.heap.map(|heap| each(heap.held_bytes)),
        Measure::Allocations => held.heap.map(|heap| each(heap.allocations)),
        _ => None,
    }
}
