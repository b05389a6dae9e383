use std::path::{Path, PathBuf};

use netbench_model::{StackName, SuitePlan};
use netbench_report::{
    CompareSummary, compare_runs_of_suite, compare_stacks_of_suite, join_runs_of_suite,
};

use crate::{
    compare::{Compare, all_differ, conclude},
    exit::{Ended, bail_input},
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

fn of_one(
    options: &Compare,
    run: &Path,
    chosen: Option<(&StackName, &StackName)>,
) -> anyhow::Result<CompareSummary> {
    let stacks = chosen.iter().flat_map(|(a, b)| [*a, *b]);
    let (manifest, samples) = stored::read_with::<SuitePlan>(run, stacks)?;
    let (a, b) = match (chosen, manifest.plan.stacks.as_slice()) {
        (Some(chosen), _) => chosen,
        (None, [a, b, ..]) => (a, b),
        (None, _) => {
            bail_input!("the run has one stack; a second run is needed to compare with");
        }
    };
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
    let first = stored::read_with::<SuitePlan>(first, chosen.map(|(a, _)| a))?;
    let other = stored::read_with::<SuitePlan>(other, chosen.map(|(_, b)| b))?;
    Ok(compare_runs_of_suite(
        (&first.0, &first.1),
        (&other.0, &other.1),
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
    let stacks = chosen.iter().flat_map(|(a, b)| [*a, *b]);
    let read = runs
        .iter()
        .map(|run| stored::read_with::<SuitePlan>(run, stacks.clone()));
    let read = read.collect::<anyhow::Result<Vec<_>>>()?;
    let summary = join_runs_of_suite(&read, chosen);
    conclude(&summary, &summary.differences, None, options)
}
