use std::{path::Path, sync::Arc};

use netbench_model::{Depth, EvaluationPlan};
use netbench_report::{Found, Report};

use crate::kinds::suite;

use super::parts::{Part, Steps, Unsupported, common_arguments, run_in, words};

pub(super) const PART: Part = Part {
    name: "suite",
    needs: Some("suite"),
    steps,
    unstored: |_| Vec::new(),
    collect,
};

/// The folder of the run that measures data and handshakes.
const SPEED: &str = "speed";

/// The folder of the run that measures verification, connectors and memory.
const COSTS: &str = "costs";

/// The costs that a quick evaluation measures.
const QUICK_CASES: &str =
    " --case verify_*_chain-2_roots-118 --case connector_* --case memory-1000_1.3_*_AES128-*";

fn steps(plan: &EvaluationPlan) -> Result<Steps, Unsupported> {
    let (budget, rounds, cases) = match plan.depth {
        Depth::Quick => ("55s", "6", QUICK_CASES),
        Depth::Full => ("280s", "12", ""),
    };
    let speed = format!("suite --preset rustls-vs-openssl --until-decided --budget {budget}");
    let costs = format!("suite verify connector memory --rounds {rounds}{cases}");
    let runs = [(SPEED, speed), (COSTS, costs)].map(|(folder, arguments)| {
        let mut arguments = words(&arguments);
        arguments.extend(common_arguments(plan, "--stack"));
        (folder, arguments)
    });
    Ok(Steps::runs(runs))
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
