use std::{path::Path, sync::Arc, time::Duration};

use netbench_model::{Depth, EvaluationPlan, RequestRecord, Target};
use netbench_report::{FEWEST_ROUNDS, Found, Report};

use crate::kinds::connect;

use super::parts::{
    Part, RUN, Steps, Unstored, Unsupported, common_arguments, run_in, site_arguments, words,
};

pub(super) const PART: Part = Part {
    name: "connections",
    estimate,
    steps,
    unstored: Unstored::of_connect,
    collect,
};

/// What one connection takes of the default form, six at a time, over the lab's links.
const EACH_MS: u64 = 60;

/// And over a real network, one at a time to each host, with a pause between.
const EACH_LIVE_MS: u64 = 300;

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

fn estimate(plan: &EvaluationPlan) -> Duration {
    let conditions = CONDITIONS.split(',').count() as u64;
    let samples = u64::from(plan.sites) * u64::from(rounds(plan)) * 2 * conditions;
    let each = match plan.target {
        Target::Lab | Target::Loopback => EACH_MS,
        Target::Live => EACH_LIVE_MS,
    };
    Duration::from_millis(samples * each)
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
