use netbench_model::{ConnectPlan, StackName};
use netbench_report::compare_runs_of_connect;

use crate::{
    compare::{Compare, conclude},
    exit::{Ended, bail_input},
    stack_names::is_of_run,
    stored,
};

/// Compares two runs of `connect`.
pub(super) fn compare(
    options: &Compare,
    chosen: Option<(&StackName, &StackName)>,
) -> anyhow::Result<Ended> {
    let [first, other] = options.runs.as_slice() else {
        bail_input!(
            "two runs of connect are compared; `netbench runs report` compares the stacks of one, and `netbench runs merge` \
             joins several"
        );
    };
    if options.join {
        bail_input!("--join is for runs of the suite; `netbench runs merge` joins runs of connect");
    }
    let (manifest, samples) = stored::read::<ConnectPlan>(first)?;
    let (other_manifest, other_samples) = stored::read::<ConnectPlan>(other)?;
    if let Some((a, b)) = chosen {
        is_of_run(a, &manifest.plan.stacks)?;
        is_of_run(b, &other_manifest.plan.stacks)?;
    }
    let comparison = compare_runs_of_connect(
        (&manifest, &samples),
        (&other_manifest, &other_samples),
        chosen,
        options.fail_on_regression,
    );
    conclude(
        &comparison,
        &comparison.differences,
        comparison.gate.result(),
        options,
    )
}
