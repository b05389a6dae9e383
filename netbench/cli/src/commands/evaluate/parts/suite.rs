use std::{path::Path, sync::Arc, time::Duration};

use netbench_model::{Depth, EvaluationPlan};
use netbench_report::Found;

use crate::kept::Kept;

use super::{Part, Results, Step, Steps, Unsupported, about_workers, read_run, stacks, words};

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
        arguments.extend(about_workers(plan));
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
    runs: &mut Vec<Kept>,
) -> anyhow::Result<()> {
    for name in [SPEED, COSTS] {
        read_run(&folder.join(name), runs, |kept| {
            if let Kept::Suite { report, .. } = kept {
                found.suites.push(Arc::clone(&report.summary));
            }
        })?;
    }
    Ok(())
}
