use std::{path::Path, sync::Arc};

use netbench_model::{Depth, EvaluationPlan, RequestRecord};
use netbench_report::{FEWEST_ROUNDS, Found, Report};

use crate::kinds::connect;

use super::parts::{
    Part, RUN, Steps, Unstored, Unsupported, common_arguments, run_in, site_arguments, words,
};

pub(super) const PART: Part = Part {
    name: "connections",
    steps,
    unstored: Unstored::of_connect,
    collect,
};

const CONDITIONS: &str = "clean,resumed,cold";

fn rounds(plan: &EvaluationPlan) -> u32 {
    if let Some(asked) = plan.connections.rounds {
        return asked;
    }
    match plan.depth {
        // The fewest in which a site has a verdict.
        Depth::Quick => FEWEST_ROUNDS,
        Depth::Full => 10,
    }
}

fn steps(plan: &EvaluationPlan) -> Result<Steps, Unsupported> {
    let rounds = rounds(plan);
    let mut arguments = words(&format!(
        "connect --condition {CONDITIONS} --rounds {rounds}"
    ));
    arguments.extend(common_arguments(plan, "--stack"));
    arguments.extend(site_arguments(plan));
    if let Some(pause_ms) = plan.connections.pause_ms {
        arguments.extend(["--pause".into(), format!("{pause_ms}ms").into()]);
    }
    let method = &plan.connections.request.method;
    if *method != RequestRecord::default().method {
        arguments.extend(["--method".into(), method.into()]);
    }
    Ok(Steps::runs([(RUN, arguments)]))
}

fn collect(
    folder: &Path,
    _plan: &EvaluationPlan,
    found: &mut Found,
    runs: &mut Vec<Box<dyn Report>>,
) -> anyhow::Result<()> {
    if let Some(run) = run_in(&folder.join(RUN)) {
        let run = connect::read(&run)?;
        found.connections = Some(Arc::clone(&run.summary));
        runs.push(Box::new(run));
    }
    Ok(())
}
