use netbench_model::{EvaluationPlan, StackName};
use netbench_report::join_evaluations;

use super::parts;
use crate::{
    compare::{Compare, all_differ, refuse},
    exit::{Ended, bail_input},
    output, stored,
};

pub(super) fn compare(
    options: &Compare,
    chosen: Option<(&StackName, &StackName)>,
) -> anyhow::Result<Ended> {
    if options.runs.len() < 2 {
        bail_input!("two evaluations or more of the same switch are joined");
    }
    if options.fail_on_regression.is_some() || chosen.is_some() {
        bail_input!(
            "--fail-on-regression and --stack are for runs of suite and connect; evaluations are joined"
        );
    }
    all_differ(&options.runs)?;
    let mut evaluations = Vec::new();
    let mut first: Option<[StackName; 2]> = None;
    for path in &options.runs {
        let (folder, manifest) = stored::open::<EvaluationPlan>(path)?;
        let switch = [manifest.plan.from, manifest.plan.to];
        let [from, to] = first.get_or_insert_with(|| switch.clone());
        if [&*from, &*to] != [&switch[0], &switch[1]] {
            bail_input!(
                "{}: an evaluation of a switch from {} to {}, where {} is of one from {from} to {to}: only evaluations of \
                 the same switch are joined",
                path.display(),
                switch[0],
                switch[1],
                options.runs[0].display(),
            );
        }
        evaluations.push(parts::read(&folder)?.evaluation);
    }
    let joined = join_evaluations(evaluations);
    refuse(&joined.differences, options)?;
    output::print(&joined, &options.output)?;
    Ok(output::ended(&joined))
}
