pub(crate) mod args;

use netbench_model::{StackName, SuitePlan, SuiteSample};
use netbench_report::{CompareSummary, compare_runs_of_suite, compare_stacks_of_suite};

use self::args::Compare;
use crate::{
    exit::{Ended, bail_input},
    output,
    stack_names::is_of_run,
    stored::{open, wrong},
};

/// Compares two runs of the suite, or two stacks of one.
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
    let (folder, manifest) = open::<SuitePlan>(&options.first)?;
    let samples: Vec<SuiteSample> = folder.records().map_err(wrong)?;
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
    let (other_folder, other_manifest) = open::<SuitePlan>(other)?;
    let other_samples: Vec<SuiteSample> = other_folder.records().map_err(wrong)?;
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
