use std::{borrow::Cow, collections::BTreeSet};

use itertools::Itertools;
use netbench_model::{
    Case, LayoutRecord, Part, Recorded, Scenario, StackName, SuiteManifest, SuiteOutcome,
    SuiteSample, Unit, WorkerRecord,
};

use netbench_stats::{Choice, UndecidedReason};

use super::{
    CaseRow, CaseVerdict, StackFigures, SuiteFailure, SuiteHead, SuiteSummary,
    breakdown::breakdowns, figures::figures, history::is_history, published, verdicts::Verdicts,
};
use crate::run::{RunHead, SummaryHead, about_stack, incomplete};

/// Summarizes a run from its manifest and all its samples.
pub fn summarize_suite(manifest: &SuiteManifest, samples: &[SuiteSample]) -> SuiteSummary {
    let plan = &manifest.plan;
    let samples = &*without_cold_times(manifest, samples);
    let verdicts = Verdicts::of(plan, samples);
    let cases: Vec<CaseRow> = plan
        .scenarios
        .iter()
        .flat_map(Scenario::cases)
        .map(|case| row(manifest, samples, &verdicts, case))
        // Runs of earlier versions have no figures of a side, nor do stacks whose allocations are not counted.
        .filter(|row| !row.case.is_of_one_side() || !row.stacks.is_empty())
        .collect();
    let (failures, unsupported) = without_figures(manifest, samples);
    let mut summary = SuiteSummary {
        head: SummaryHead::of(manifest),
        run: head(manifest, samples),
        breakdowns: breakdowns(&cases),
        published: plan
            .preset
            .as_deref()
            .and_then(published::published)
            .map(|table| table.with_cases(&cases)),
        cases,
        failures,
        unsupported,
        warnings: [
            manifest.warnings.clone(),
            incomplete(manifest, &plan.tally(samples)),
        ]
        .concat(),
        environment: manifest.environment.facts.clone(),
    };
    warn(&mut summary, manifest);
    summary
}

/// Returns the samples, in which the times of workers that compile while they run are unsupported: earlier versions
/// measured them.
fn without_cold_times<'a>(
    manifest: &SuiteManifest,
    samples: &'a [SuiteSample],
) -> Cow<'a, [SuiteSample]> {
    let workers = manifest.workers.iter();
    let compiling: BTreeSet<&str> = workers
        .filter(|worker| worker.compiles_while_it_runs())
        .map(|worker| worker.stack.as_str())
        .collect();
    if compiling.is_empty() {
        return samples.into();
    }
    let scenarios = manifest.plan.scenarios.iter();
    let timed: BTreeSet<String> = scenarios
        .filter(|scenario| scenario.is_timed())
        .map(ToString::to_string)
        .collect();
    let mut samples = samples.to_vec();
    for sample in &mut samples {
        if compiling.contains(sample.stack.stack()) && timed.contains(&sample.name) {
            sample.outcome = SuiteOutcome::Unsupported {
                reason: WorkerRecord::NEEDS_WARM_UP.to_owned(),
            };
        }
    }
    samples.into()
}

fn row(
    manifest: &SuiteManifest,
    samples: &[SuiteSample],
    verdicts: &Verdicts,
    case: Case,
) -> CaseRow {
    let stacks = &manifest.plan.stacks;
    let figures: Vec<StackFigures> = stacks
        .iter()
        .filter_map(|stack| figures(&case, stack, samples))
        .collect();
    let steps = if is_history(manifest.plan.preset.as_deref()) {
        let steps = figures
            .windows(2)
            .filter_map(|pair| verdicts.of_case(&case, &pair[0].stack, &pair[1].stack, samples));
        steps.collect()
    } else {
        Vec::new()
    };
    CaseRow {
        name: case.to_string(),
        case,
        part: case.scenario.part(),
        unit: case.unit(),
        stacks: figures,
        steps,
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
        head: RunHead::of(manifest),
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

/// Adds a trial to the preceding row if that has the same scenario, stack and class.
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
            "The layout of the workers' memory was the system's own: differences of a percent may come from the \
             layout."
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
    let unverified = manifest.workers.iter();
    for worker in unverified.filter(|worker| !worker.verifies_chains()) {
        say(format!(
            "{} verifies no certificates: its client has less to do in a handshake than those of other stacks.",
            worker.stack
        ));
    }
    let few = summary
        .cases
        .iter()
        .flat_map(|case| &case.verdicts)
        .filter(|verdict| verdict.change.interval.is_none())
        .count();
    if few > 0 {
        say(format!(
            "{} too few rounds for a verdict: timings need six, everything else three.",
            match few {
                1 => "1 comparison has".to_owned(),
                few => format!("{few} comparisons have"),
            }
        ));
    }
    let timed = summary
        .cases
        .iter()
        .filter(|case| case.unit == Unit::Nanoseconds && case.part != Part::Threads);
    let verdicts: Vec<&CaseVerdict> = timed.flat_map(|case| &case.verdicts).collect();
    let is_unchosen = |verdict: &&&CaseVerdict| verdict.choice == Choice::All;
    let without_loops: BTreeSet<&str> = verdicts
        .iter()
        .filter(is_unchosen)
        .map(|verdict| verdict.other.as_str())
        .collect();
    if !without_loops.is_empty() && verdicts.iter().all(|verdict| is_unchosen(&verdict)) {
        say(
            "The run has no reference loops, which later versions choose undisturbed turns by: its verdicts on \
             timings are over all turns, and hold for the machine as busy as it was."
                .to_owned(),
        );
    } else if !without_loops.is_empty() {
        say(format!(
            "No reference loops run beside {}: verdicts on their timings are over all turns, and hold for the machine as \
             busy as it was.",
            without_loops.iter().join(", ")
        ));
    }
    let is_chosen = |verdict: &&CaseVerdict| verdict.choice == Choice::Quiet;
    if manifest.plan.idle.is_none() && verdicts.iter().any(is_chosen) {
        say(
            "How fast this processor is when it is idle was not known: no earlier run was remembered here. Something \
             that disturbed the machine for the whole run, and one stack more than the other, would not be noticed."
                .to_owned(),
        );
    }
    if let Some(warning) = never_quiet(verdicts.iter().map(|verdict| verdict.undecided)) {
        say(warning);
    }
    let disturbed = summary.disturbed_share();
    if disturbed > 0.25 {
        say(format!(
            "The machine was busy with other things: {:.0} % of all pairs of turns were disturbed. Verdicts do not \
             rest on those, but means and tails have them.",
            disturbed * 100.0
        ));
    }
    summary.warnings.extend(warnings);
}

/// Returns the warning of a machine that was never quiet, if that is the reason why some comparison has no verdict.
pub(super) fn never_quiet(
    reasons: impl Iterator<Item = Option<UndecidedReason>>,
) -> Option<String> {
    let never = reasons.filter(|reason| *reason == Some(UndecidedReason::NeverQuiet));
    let never = never.count();
    (never > 0).then(|| {
        format!(
            "The machine was never quiet during {never} comparisons: AES took over 3 % more of the reference loops' time, \
             loads over 3 % (7 % beside another stack), or a loop over 10 % more time, than on this processor when it is \
             idle. These have no verdict."
        )
    })
}
