use std::{path::Path, sync::Arc, time::Duration};

use netbench_model::{Depth, EvaluationPlan};
use netbench_report::{Found, Report};

use crate::kinds::suite;

use super::parts::{
    Part, Results, Step, Steps, Unsupported, run_in, stacks, words, worker_arguments,
};

pub(super) const PART: Part = Part {
    name: "suite",
    estimate,
    steps,
    collect,
};

/// Data and handshakes.
const SPEED: &str = "speed";

/// What is made once for many connections, and memory.
const COSTS: &str = "costs";

fn estimate(plan: &EvaluationPlan) -> Duration {
    Duration::from_secs(match plan.depth {
        Depth::Quick => 75,
        Depth::Full => 500,
    })
}

fn steps(plan: &EvaluationPlan) -> Result<Steps, Unsupported> {
    let stacks = stacks(plan);
    let seed = plan.seed.to_string();
    let (budget, rounds) = match plan.depth {
        Depth::Quick => ("55s", "6"),
        Depth::Full => ("280s", "12"),
    };
    let common = |mut arguments: Vec<_>, folder| {
        arguments.extend(words(["--stack", &stacks, "--seed", &seed]));
        arguments.extend(worker_arguments(plan));
        Step {
            arguments,
            results: Results::Run(folder),
        }
    };
    let speed = words([
        "suite",
        "--preset",
        "rustls-vs-openssl",
        "--until-decided",
        "--budget",
        budget,
    ]);
    let mut costs = words(["suite", "verify", "connector", "memory", "--rounds", rounds]);
    if plan.depth == Depth::Quick {
        for case in [
            "verify_*_chain-2_roots-118",
            "connector_*",
            "memory-1000_1.3_*",
        ] {
            costs.extend(words(["--case", case]));
        }
    }
    Ok(Steps {
        steps: vec![common(speed, SPEED), common(costs, COSTS)],
        notes: Vec::new(),
    })
}

fn collect(
    folder: &Path,
    _plan: &EvaluationPlan,
    found: &mut Found,
    runs: &mut Vec<Box<dyn Report>>,
) -> anyhow::Result<()> {
    for name in [SPEED, COSTS] {
        if let Some(run) = run_in(&folder.join(name)) {
            let run = suite::read(&run)?;
            found.suites.push(Arc::clone(&run.summary));
            runs.push(Box::new(run));
        }
    }
    Ok(())
}
