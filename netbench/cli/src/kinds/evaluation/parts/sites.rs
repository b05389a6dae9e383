use std::path::Path;

use netbench_model::{EvaluationPlan, ScanPlan};
use netbench_report::{Found, Report, losses, web_loss};

use super::part::{
    Needs, Part, RUN, Step, Steps, Unsupported, begun_in, link, names, roots, sites, usual,
};
use crate::{
    client::Unstored,
    kinds::scan::{self, Scan},
    run::Planned,
};

pub(super) const PART: Part = Part {
    name: "sites",
    needs: Needs::Workers,
    steps,
    collect,
};

/// The largest number of sites whose loss is confirmed by a handshake.
const CONFIRM: u32 = 1_000;

fn steps(plan: &EvaluationPlan, unstored: &Unstored) -> Result<Steps, Unsupported> {
    let unstored = Unstored {
        header: Vec::new(),
        ..unstored.clone()
    };
    let (plan, shown) = (plan.clone(), unstored.clone());
    let scan = Step::run(RUN, move || scan_plan(&plan, &shown));
    Ok(vec![scan.with(unstored)].into())
}

fn scan_plan(plan: &EvaluationPlan, unstored: &Unstored) -> anyhow::Result<Planned<ScanPlan>> {
    let mut options: Scan = usual()?;
    (options.over, options.targets) = sites(plan);
    options.roots = roots(plan);
    options.path.link = link(plan)?;
    options.start.seed = Some(plan.seed);
    options.identity = unstored.identity.clone();
    options.summary = true;
    options.confirm = CONFIRM;
    options.against = names(plan).to_vec();
    let mut planned = scan::plan(&options)?;
    if let Some(profile) = plan.client_profile {
        planned.plan.client_profile = profile;
    }
    Ok(planned)
}

fn collect(
    folder: &Path,
    plan: &EvaluationPlan,
    found: &mut Found,
    runs: &mut Vec<Box<dyn Report>>,
) -> anyhow::Result<()> {
    if let Some(run) = begun_in(&folder.join(RUN)) {
        let summary = scan::read(&run)?;
        let loss = summary.loss.as_ref();
        let profile = summary.run.client_profile;
        found.losses = loss.and_then(|loss| losses(loss, profile, &plan.from, &plan.to));
        found.web = loss.and_then(|loss| web_loss(loss, &plan.from, &plan.to));
        runs.push(Box::new(summary));
    }
    Ok(())
}
