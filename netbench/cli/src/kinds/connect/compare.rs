use netbench_model::{ConnectPlan, StackName};
use netbench_report::compare_runs_of_connect;

use crate::{
    compare::{Compare, conclude},
    exit::{Ended, bail_input},
    stored,
};

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
    let first = stored::read_with::<ConnectPlan>(first, chosen.map(|(a, _)| a))?;
    let other = stored::read_with::<ConnectPlan>(other, chosen.map(|(_, b)| b))?;
    let comparison = compare_runs_of_connect(
        (&first.0, &first.1),
        (&other.0, &other.1),
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
