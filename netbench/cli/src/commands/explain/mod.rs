pub(crate) mod args;

use netbench_model::{ConnectPlan, StackName};

use self::args::Explain;
use crate::{
    exit::{Ended, bail_input},
    output,
    stack_names::is_of_run,
    stored,
};

/// Says which characteristics of a site go with one stack's being faster.
pub(crate) fn explain(options: &Explain) -> anyhow::Result<Ended> {
    let (_, manifest, samples) = stored::read::<ConnectPlan>(&options.run)?;
    let known = |name: &String| {
        let name = StackName::new(name);
        is_of_run(&name, &manifest.plan.stacks).map(|()| name)
    };
    let from = options.from.as_ref().map(known).transpose()?;
    let to = options.to.as_ref().map(known).transpose()?;
    if from.is_some() && from == to {
        bail_input!("--from and --to are the same stack");
    }
    let summary = netbench_report::explain(&manifest, &samples, from.as_ref().zip(to.as_ref()));
    output::print(&summary, &options.output)?;
    let compared = summary
        .explanations
        .iter()
        .any(|explanation| explanation.overall.is_some());
    Ok(if compared {
        Ended::Well
    } else {
        Ended::NothingToCompare
    })
}
