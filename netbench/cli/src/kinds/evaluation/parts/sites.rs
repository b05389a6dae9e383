use std::path::Path;

use netbench_model::{EvaluationPlan, ScanManifest};
use netbench_report::{losses, web_loss};

use super::part::{Load, Needs, Part, RUN, Results, Step, Steps, names, roots, sites, usual};
use crate::{
    client::Unstored,
    kinds::scan::{self, Scan, ScanRun},
    targets,
};

pub(super) const PART: Part = Part {
    name: "sites",
    needs: Needs::Workers,
    load: Load::Untimed,
    steps,
    collect,
};

/// The largest number of sites whose loss is confirmed by a handshake.
const CONFIRM: u32 = 1_000;

fn steps<'a>(plan: &'a EvaluationPlan, unstored: &'a Unstored) -> Result<Steps<'a>, String> {
    let scan = Step::run(RUN, || scan_plan(plan, unstored));
    let scan = scan.with(Unstored {
        header: Vec::new(),
        ..unstored.clone()
    });
    Ok(vec![scan].into())
}

fn scan_plan(plan: &EvaluationPlan, unstored: &Unstored) -> anyhow::Result<ScanManifest> {
    let mut options: Scan = usual()?;
    (options.over, options.targets) = sites(plan);
    options.roots = roots(plan);
    options.path.link = targets::link(plan.link.as_deref())?;
    options.start.seed = Some(plan.seed);
    options.identity = unstored.identity.clone();
    options.summary = true;
    options.confirm = CONFIRM;
    options.against = names(plan).to_vec();
    let mut manifest = scan::plan(&options)?;
    if let Some(profile) = plan.client_profile {
        manifest.plan.client_profile = profile;
    }
    Ok(manifest)
}

fn collect(folder: &Path, plan: &EvaluationPlan, results: &mut Results) -> anyhow::Result<()> {
    let found = results.add::<ScanRun, _>(&folder.join(RUN), |summary| {
        let loss = summary.loss.as_ref()?;
        let profile = summary.run.client_profile;
        Some((
            losses(loss, profile, &plan.from, &plan.to),
            web_loss(loss, &plan.from, &plan.to),
        ))
    })?;
    if let Some((losses, web)) = found.flatten() {
        (results.found.losses, results.found.web) = (losses, web);
    }
    Ok(())
}
