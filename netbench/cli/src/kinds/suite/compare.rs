use std::path::{Path, PathBuf};

use netbench_model::{StackName, SuitePlan};
use netbench_report::{
    CompareSummary, compare_runs_of_suite, compare_stacks_of_suite, join_runs_of_suite,
};

use crate::{
    compare::{Compare, all_differ, conclude, refuse},
    exit::{Ended, bail_input},
    output,
    stack_names::is_of_run,
    stored,
};

/// Compares two stacks of one run of the suite, or two runs, or joins several runs.
pub(super) fn compare(
    options: &Compare,
    chosen: Option<(&StackName, &StackName)>,
) -> anyhow::Result<Ended> {
    let summary = match options.runs.as_slice() {
        [first] if !options.join => of_one(options, first, chosen)?,
        [first, other] if !options.join => of_two(options, first, other, chosen)?,
        runs => return join(options, runs, chosen),
    };
    conclude(
        &summary,
        &summary.differences,
        summary.gate.result(),
        options,
    )
}

/// Compares two stacks of one run.
fn of_one(
    options: &Compare,
    run: &Path,
    chosen: Option<(&StackName, &StackName)>,
) -> anyhow::Result<CompareSummary> {
    let (manifest, samples) = stored::read::<SuitePlan>(run)?;
    let stacks = &manifest.plan.stacks;
    let (a, b) = match (chosen, stacks.as_slice()) {
        (Some(chosen), _) => chosen,
        (None, [a, b, ..]) => (a, b),
        (None, _) => {
            bail_input!("the run has one stack; a second run is needed to compare with");
        }
    };
    is_of_run(a, stacks)?;
    is_of_run(b, stacks)?;
    let threshold = options.fail_on_regression;
    Ok(compare_stacks_of_suite(
        &manifest, &samples, a, b, threshold,
    ))
}

fn of_two(
    options: &Compare,
    first: &Path,
    other: &Path,
    chosen: Option<(&StackName, &StackName)>,
) -> anyhow::Result<CompareSummary> {
    let (manifest, samples) = stored::read::<SuitePlan>(first)?;
    let (other_manifest, other_samples) = stored::read::<SuitePlan>(other)?;
    if let Some((a, b)) = chosen {
        is_of_run(a, &manifest.plan.stacks)?;
        is_of_run(b, &other_manifest.plan.stacks)?;
    }
    Ok(compare_runs_of_suite(
        (&manifest, &samples),
        (&other_manifest, &other_samples),
        chosen,
        options.fail_on_regression,
    ))
}

fn join(
    options: &Compare,
    runs: &[PathBuf],
    chosen: Option<(&StackName, &StackName)>,
) -> anyhow::Result<Ended> {
    if runs.len() < 2 {
        bail_input!("--join takes two runs or more");
    }
    if options.fail_on_regression.is_some() {
        bail_input!("--fail-on-regression compares two runs; three or more are joined");
    }
    all_differ(runs)?;
    let mut read = Vec::new();
    for run in runs {
        let (manifest, samples) = stored::read::<SuitePlan>(run)?;
        for stack in chosen.iter().flat_map(|(a, b)| [a, b]) {
            is_of_run(stack, &manifest.plan.stacks)?;
        }
        read.push((manifest, samples));
    }
    let summary = join_runs_of_suite(&read, chosen);
    refuse(&summary.differences, options)?;
    output::print(&summary, &options.output)?;
    Ok(if summary.cases.is_empty() {
        Ended::NothingToCompare
    } else {
        Ended::Well
    })
}
