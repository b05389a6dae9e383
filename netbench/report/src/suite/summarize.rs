use std::{borrow::Cow, collections::BTreeSet};

use itertools::Itertools;
use netbench_model::{
    Case, LayoutRecord, Part, Recorded, Scenario, SuiteManifest, SuiteOutcome, SuiteSample, Unit,
    WorkerRecord,
};

use netbench_stats::{Choice, UndecidedReason};

use super::{
    CaseRow, CaseVerdict, StackFigures, SuiteFailure, SuiteHead, SuiteSummary,
    breakdown::breakdowns, figures::figures, history::is_history, latency::latencies, life::lives,
    published, system_calls, verdicts::Verdicts,
};
use crate::{
    differences::{Compared, against_first},
    run::{RunHead, SummaryHead, incomplete},
    text::count,
};

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
        latencies: latencies(&plan.scenarios, &plan.stacks, samples),
        lives: lives(&cases, samples),
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
            of_run(manifest),
            system_calls::warnings(samples),
        ]
        .concat(),
        environment: manifest.environment.facts.clone(),
    };
    let warnings = of_verdicts(&summary, manifest);
    summary.warnings.extend(warnings);
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
    let stacks = manifest.plan.stacks.iter();
    let stacks = stacks.filter_map(|stack| figures(&case, stack, samples));
    let stacks: Vec<StackFigures> = stacks.collect();
    let versions = stacks.iter().map(|figures| &figures.stack);
    let steps = versions
        .tuple_windows()
        .filter(|_| is_history(manifest.plan.preset.as_deref()));
    let against = |(first, other)| verdicts.of_case(&case, first, other, samples);
    CaseRow {
        name: case.to_string(),
        case,
        part: case.scenario.part(),
        unit: case.unit(),
        verdicts: against_first(&manifest.plan.stacks)
            .filter_map(against)
            .collect(),
        steps: steps.filter_map(against).collect(),
        stacks,
    }
}

fn head(manifest: &SuiteManifest, samples: &[SuiteSample]) -> SuiteHead {
    let plan = &manifest.plan;
    SuiteHead {
        head: RunHead::of(manifest),
        preset: plan.preset.clone(),
        stacks: Compared::of(manifest, &plan.stacks, |_| None).stacks,
        rounds: samples.iter().map(|s| s.round + 1).max().unwrap_or(0),
        until_decided: plan.until_decided,
        samples: samples.len() as u64,
    }
}

fn without_figures(
    manifest: &SuiteManifest,
    samples: &[SuiteSample],
) -> (Vec<SuiteFailure>, Vec<SuiteFailure>) {
    let (mut failures, mut unsupported): (Vec<SuiteFailure>, Vec<_>) = (Vec::new(), Vec::new());
    for scenario in &manifest.plan.scenarios {
        for stack in &manifest.plan.stacks {
            let name = scenario.to_string();
            let these = samples
                .iter()
                .filter(|s| s.name == name && s.stack == *stack);
            for sample in these {
                let (rows, class, reason) = match &sample.outcome {
                    SuiteOutcome::Ok(_) => continue,
                    SuiteOutcome::Failed(failure) => {
                        let class = failure.class.to_string();
                        (&mut failures, Some(class), &failure.detail)
                    }
                    SuiteOutcome::Unsupported { reason } => (&mut unsupported, None, reason),
                };
                match rows.last_mut() {
                    Some(last)
                        if (&last.scenario, &last.stack, &last.class) == (&name, stack, &class) =>
                    {
                        last.trials += 1;
                    }
                    _ => rows.push(SuiteFailure {
                        scenario: name.clone(),
                        stack: stack.clone(),
                        class,
                        reason: reason.clone(),
                        trials: 1,
                    }),
                }
            }
        }
    }
    (failures, unsupported)
}

/// Returns the warnings of a run, whatever its figures are.
fn of_run(manifest: &SuiteManifest) -> Vec<String> {
    let unfinished = manifest
        .finished
        .is_none()
        .then(|| "The run was not finished: it has fewer rounds than were asked for.".to_owned());
    let layout = (manifest.plan.layout == LayoutRecord::Random).then(|| {
        "The layout of the workers' memory was the system's own: differences of a percent may come from the \
         layout."
            .to_owned()
    });
    let workers = manifest.workers.iter();
    let debug = workers
        .clone()
        .filter(|worker| worker.build.get("profile").is_some_and(|p| p == "debug"));
    let debug = debug.map(|worker| {
        format!(
            "The worker of {} was built without optimisation: its figures mean nothing.",
            worker.stack
        )
    });
    let unverified = workers.filter(|worker| !worker.verifies_chains());
    let unverified = unverified.map(|worker| {
        format!(
            "{} verifies no certificates: its client has less to do in a handshake than those of other stacks.",
            worker.stack
        )
    });
    let processor = manifest.environment.of_processor(manifest.plan.core());
    let warnings = unfinished.into_iter().chain(layout).chain(processor);
    warnings.chain(debug).chain(unverified).collect()
}

/// Returns the warnings about the verdicts of a run.
fn of_verdicts(summary: &SuiteSummary, manifest: &SuiteManifest) -> Vec<String> {
    let mut warnings = Vec::new();
    let few = summary.verdicts();
    let few = few.filter(|(_, verdict)| verdict.change.interval.is_none());
    let few = few.count();
    if few > 0 {
        warnings.push(format!(
            "{} too few rounds for a verdict: timings need six, everything else three.",
            count(few, "comparison has", "comparisons have")
        ));
    }
    let timed = summary
        .verdicts()
        .filter(|(case, _)| case.unit == Unit::Nanoseconds && case.part != Part::Threads);
    let verdicts: Vec<&CaseVerdict> = timed.map(|(_, verdict)| verdict).collect();
    let (unchosen, chosen): (Vec<&CaseVerdict>, Vec<_>) = verdicts
        .iter()
        .partition(|verdict| verdict.choice == Choice::All);
    let without_loops = unchosen.iter().map(|verdict| verdict.other.as_str());
    let without_loops: BTreeSet<&str> = without_loops.collect();
    if !without_loops.is_empty() && chosen.is_empty() {
        warnings.push(
            "The run has no reference loops, which later versions choose undisturbed turns by: its verdicts on \
             timings are over all turns, and hold for the machine as busy as it was."
                .to_owned(),
        );
    } else if !without_loops.is_empty() {
        warnings.push(format!(
            "No reference loops run beside {}: verdicts on their timings are over all turns, and hold for the machine as \
             busy as it was.",
            without_loops.iter().join(", ")
        ));
    }
    if manifest.plan.idle.is_none() && !chosen.is_empty() {
        warnings.push(
            "How fast this processor is when it is idle was not known: no earlier run was remembered here. Something \
             that disturbed the machine for the whole run, and one stack more than the other, would not be noticed."
                .to_owned(),
        );
    }
    warnings.extend(never_quiet(
        verdicts.iter().map(|verdict| verdict.undecided),
    ));
    let disturbed = summary.disturbed_share();
    if disturbed > 0.25 {
        warnings.push(format!(
            "The machine was busy with other things: {:.0} % of all pairs of turns were disturbed. Verdicts do not \
             rest on those, but means and tails have them.",
            disturbed * 100.0
        ));
    }
    warnings
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
