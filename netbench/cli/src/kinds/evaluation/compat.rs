use std::{ffi::OsString, path::Path};

use netbench_compat::chains::reasons;
use netbench_model::{Depth, EvaluationPlan};
use netbench_report::{Found, Report, summarize_chains, summarize_compat, summarize_roots};

use super::parts::{Part, RUN, Steps, Unsupported, sum_up, words, worker_arguments};

pub(super) const PART: Part = Part {
    name: "compat",
    needs: None,
    steps,
    unstored: |_| Vec::new(),
    collect,
};

const CHAINS: &str = "chains";
const ROOTS: &str = "roots";

fn steps(plan: &EvaluationPlan) -> Result<Steps, Unsupported> {
    let (from, to) = (plan.from.stack(), plan.to.stack());
    let arguments = |command: &str| {
        let mut arguments = words(&format!("{command} --stack {from},{to}"));
        arguments.extend(worker_arguments(plan));
        arguments
    };
    let mut servers = arguments("compat");
    if let Some(profile) = plan.client_profile {
        servers.extend([OsString::from("--client-profile"), profile.name().into()]);
    }
    let mut chains = arguments("compat chains");
    let mut notes = Vec::new();
    if plan.depth == Depth::Quick {
        chains.extend(words("--case own/*"));
        notes.push(
            "--quick put netbench's own certificate chains alone to the verifiers".to_owned(),
        );
    }
    Ok(Steps {
        notes,
        ..Steps::runs([
            (RUN, servers),
            (CHAINS, chains),
            (ROOTS, arguments("compat roots")),
        ])
    })
}

fn collect(
    folder: &Path,
    _plan: &EvaluationPlan,
    found: &mut Found,
    runs: &mut Vec<Box<dyn Report>>,
) -> anyhow::Result<()> {
    let chains = |manifest: &_, samples| summarize_chains(manifest, samples, &reasons());
    sum_up(&folder.join(RUN), summarize_compat, &mut found.compat, runs)?;
    sum_up(&folder.join(CHAINS), chains, &mut found.chains, runs)?;
    sum_up(&folder.join(ROOTS), summarize_roots, &mut found.roots, runs)
}
