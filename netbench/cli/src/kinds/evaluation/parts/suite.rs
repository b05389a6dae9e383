use std::{path::Path, sync::Arc, time::Duration};

use netbench_model::{Depth, EvaluationPlan, Part as SuitePart, Preset, SuiteManifest};
use netbench_protocol::Operation;

use super::part::{Load, Needs, Part, Results, Step, Steps, stacks, usual};
use crate::{
    client::Unstored,
    kinds::suite::{self, PartArg, Suite, SuiteRun},
    run,
};

pub(super) const PART: Part = Part {
    name: "suite",
    needs: Needs::Operation(Operation::Suite),
    load: Load::Timed,
    steps,
    collect,
};

/// The folder of the run that measures data and handshakes.
const SPEED: &str = "speed";

/// The folder of the run that measures verification, connectors and memory.
const COSTS: &str = "costs";

/// The costs that a quick evaluation measures.
const QUICK_CASES: [&str; 4] = [
    "verify_{rsa-2048,ecdsa-p256}_chain-2_roots-118",
    "connector_{pem_roots-118,native}",
    "memory-1000_1.3_ECDHE_ECDSA_AES128-GCM_SHA256",
    "memory-1000_1.3_ECDHE_ECDSA_AES128-GCM_SHA256_after-data",
];

fn steps<'a>(plan: &'a EvaluationPlan, _: &'a Unstored) -> Result<Steps<'a>, String> {
    let speed = Step::run(SPEED, || speed(plan));
    let costs = Step::run(COSTS, || costs(plan));
    Ok(vec![speed, costs].into())
}

fn speed(plan: &EvaluationPlan) -> anyhow::Result<SuiteManifest> {
    let mut options = options(plan)?;
    options.preset = Some(Preset::RustlsVsOpenssl);
    options.until_decided = true;
    options.budget = Duration::from_secs(match plan.depth {
        Depth::Quick => 45,
        Depth::Full => 280,
    });
    Ok(run::manifest(suite::plan(&options)?))
}

fn costs(plan: &EvaluationPlan) -> anyhow::Result<SuiteManifest> {
    let mut options = options(plan)?;
    let parts = [SuitePart::Verify, SuitePart::Connector, SuitePart::Memory];
    options.parts = parts.map(PartArg::One).to_vec();
    match plan.depth {
        Depth::Quick => {
            options.rounds = Some(6);
            options.cases = QUICK_CASES.map(str::to_owned).to_vec();
        }
        Depth::Full => options.rounds = Some(12),
    }
    Ok(run::manifest(suite::plan(&options)?))
}

fn options(plan: &EvaluationPlan) -> anyhow::Result<Suite> {
    let mut options: Suite = usual()?;
    options.stacks = stacks(plan);
    options.start.seed = Some(plan.seed);
    Ok(options)
}

fn collect(folder: &Path, _: &EvaluationPlan, results: &mut Results) -> anyhow::Result<()> {
    for name in [SPEED, COSTS] {
        let run = folder.join(name);
        let summary = results.add::<SuiteRun, _>(&run, |run| Arc::clone(&run.summary))?;
        results.found.suites.extend(summary);
    }
    Ok(())
}
