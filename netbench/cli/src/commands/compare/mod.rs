pub(crate) mod args;

use netbench_model::{StackName, SuitePlan};
use netbench_report::{CompareSummary, compare_runs_of_suite, compare_stacks_of_suite};

use self::args::Compare;
use crate::{
    exit::{Ended, bail_input},
    output,
    stack_names::is_of_run,
    stored,
};

pub(crate) fn compare(options: &Compare) -> anyhow::Result<Ended> {
    let summary = summary(options)?;
    let refused: Vec<_> = summary
        .differences
        .iter()
        .filter(|difference| !difference.harmless)
        .map(|difference| difference.what.as_str())
        .collect();
    if !refused.is_empty() && !options.allow_different_settings {
        bail_input!(
            "the runs differ in {}, so that their figures cannot be compared; \
             --allow-different-settings compares them all the same",
            refused.join(", ")
        );
    }
    output::print(&summary, &options.output)?;
    Ok(match (summary.cases.is_empty(), summary.regressed) {
        (true, _) => Ended::NothingToCompare,
        (false, 0) => Ended::Well,
        (false, _) => Ended::CheckFailed,
    })
}

fn summary(options: &Compare) -> anyhow::Result<CompareSummary> {
    let threshold = options.fail_on_regression;
    let (_, manifest, samples) = stored::read::<SuitePlan>(&options.first)?;
    let chosen: Vec<StackName> = options.stack.iter().map(StackName::new).collect();
    let chosen = match chosen.as_slice() {
        [] => None,
        [a, b] => Some((a, b)),
        _ => bail_input!("--stack takes two stacks"),
    };
    let stacks = &manifest.plan.stacks;
    let Some(other) = &options.other else {
        let (a, b) = match (chosen, stacks.as_slice()) {
            (Some(chosen), _) => chosen,
            (None, [a, b, ..]) => (a, b),
            (None, _) => {
                let why = "the run has one stack; a second run is needed to compare with";
                bail_input!("{why}");
            }
        };
        is_of_run(a, stacks)?;
        is_of_run(b, stacks)?;
        return Ok(compare_stacks_of_suite(
            &manifest, &samples, a, b, threshold,
        ));
    };
    let (_, other_manifest, other_samples) = stored::read::<SuitePlan>(other)?;
    if let Some((a, b)) = chosen {
        is_of_run(a, stacks)?;
        is_of_run(b, &other_manifest.plan.stacks)?;
    }
    Ok(compare_runs_of_suite(
        (&manifest, &samples),
        (&other_manifest, &other_samples),
        chosen,
        threshold,
    ))
}
