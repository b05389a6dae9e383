use std::path::Path;

use netbench_model::{
    Depth, EvaluationPlan, chains::ChainsManifest, compat::CompatManifest, roots::RootsManifest,
};

use super::part::{Load, Needs, Part, RUN, Results, Step, Steps, stacks, usual};
use crate::{
    client::Unstored,
    kinds::{
        chains::{self, Chains, ChainsRun},
        compat::{self, Client, Compat, CompatRun},
        roots::{self, Roots, RootsRun},
    },
    run,
};

pub(super) const PART: Part = Part {
    name: "compat",
    needs: Needs::Workers,
    load: Load::Untimed,
    steps,
    collect,
};

const CHAINS: &str = "chains";
const ROOTS: &str = "roots";

fn steps<'a>(plan: &'a EvaluationPlan, _: &'a Unstored) -> Result<Steps<'a>, String> {
    let steps = vec![
        Step::run(RUN, || servers(plan, Vec::new())),
        Step::run(CHAINS, || chains(plan)),
        Step::run(ROOTS, || roots(plan)),
    ];
    let notes = match plan.depth {
        Depth::Quick => {
            vec![
                "--quick tested the verifiers with netbench's own certificate chains alone"
                    .to_owned(),
            ]
        }
        Depth::Full => Vec::new(),
    };
    Ok(Steps { steps, notes })
}

/// Returns the run of both stacks and these clients with all servers.
pub(super) fn servers(
    plan: &EvaluationPlan,
    clients: Vec<Client>,
) -> anyhow::Result<CompatManifest> {
    let mut options: Compat = usual()?;
    options.stacks = stacks(plan);
    options.client = clients;
    let mut servers = compat::plan(&options)?;
    if let Some(profile) = plan.client_profile {
        servers.client_profile = profile;
    }
    Ok(run::manifest(servers))
}

fn chains(plan: &EvaluationPlan) -> anyhow::Result<ChainsManifest> {
    let mut options: Chains = usual()?;
    options.stacks = stacks(plan);
    if plan.depth == Depth::Quick {
        options.case = vec!["own/*".to_owned()];
    }
    Ok(run::manifest(chains::plan(&options)?))
}

fn roots(plan: &EvaluationPlan) -> anyhow::Result<RootsManifest> {
    let mut options: Roots = usual()?;
    options.stacks = stacks(plan);
    Ok(run::manifest(roots::plan(&options)?))
}

fn collect(folder: &Path, _: &EvaluationPlan, results: &mut Results) -> anyhow::Result<()> {
    results.found.compat = results.add_whole::<CompatRun>(&folder.join(RUN))?;
    results.found.chains = results.add_whole::<ChainsRun>(&folder.join(CHAINS))?;
    results.found.roots = results.add_whole::<RootsRun>(&folder.join(ROOTS))?;
    Ok(())
}
