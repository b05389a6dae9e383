use std::path::Path;

use netbench_model::{
    Depth, EvaluationPlan, chains::ChainsPlan, compat::CompatPlan, roots::RootsPlan,
};

use super::part::{Needs, Part, RUN, Results, Step, Steps, Unsupported, stacks, usual};
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
    steps,
    collect,
};

const CHAINS: &str = "chains";
const ROOTS: &str = "roots";

fn steps(plan: &EvaluationPlan, _: &Unstored) -> Result<Steps, Unsupported> {
    let plans = [plan.clone(), plan.clone(), plan.clone()];
    let [servers, chains, roots] = plans;
    let steps = vec![
        Step::run(RUN, move || {
            Ok(run::manifest(servers_plan(&servers, Vec::new())?))
        }),
        Step::run(CHAINS, move || Ok(run::manifest(chains_plan(&chains)?))),
        Step::run(ROOTS, move || Ok(run::manifest(roots_plan(&roots)?))),
    ];
    let notes = match plan.depth {
        Depth::Quick => {
            vec!["--quick put netbench's own certificate chains alone to the verifiers".to_owned()]
        }
        Depth::Full => Vec::new(),
    };
    Ok(Steps { steps, notes })
}

/// Returns the plan of both stacks and these clients with all servers.
pub(super) fn servers_plan(
    plan: &EvaluationPlan,
    clients: Vec<Client>,
) -> anyhow::Result<CompatPlan> {
    let mut options: Compat = usual()?;
    options.stacks = stacks(plan);
    options.client = clients;
    let mut servers = compat::plan(&options)?;
    if let Some(profile) = plan.client_profile {
        servers.client_profile = profile;
    }
    Ok(servers)
}

fn chains_plan(plan: &EvaluationPlan) -> anyhow::Result<ChainsPlan> {
    let mut options: Chains = usual()?;
    options.stacks = stacks(plan);
    if plan.depth == Depth::Quick {
        options.case = vec!["own/*".to_owned()];
    }
    chains::plan(&options)
}

fn roots_plan(plan: &EvaluationPlan) -> anyhow::Result<RootsPlan> {
    let mut options: Roots = usual()?;
    options.stacks = stacks(plan);
    roots::plan(&options)
}

fn collect(folder: &Path, _: &EvaluationPlan, results: &mut Results) -> anyhow::Result<()> {
    results.found.compat = results.add_whole::<CompatRun>(&folder.join(RUN))?;
    results.found.chains = results.add_whole::<ChainsRun>(&folder.join(CHAINS))?;
    results.found.roots = results.add_whole::<RootsRun>(&folder.join(ROOTS))?;
    Ok(())
}
