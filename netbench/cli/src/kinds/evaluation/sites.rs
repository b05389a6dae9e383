use std::path::Path;

use netbench_model::EvaluationPlan;
use netbench_report::{Found, Report, losses, web_loss};

use crate::{client::Unstored, kinds::scan};

use super::parts::{
    Part, RUN, Steps, Unsupported, common_arguments, run_in, site_arguments, words,
};

pub(super) const PART: Part = Part {
    name: "sites",
    needs: None,
    steps,
    unstored: Unstored::of_scan,
    collect,
};

/// The largest number of sites whose loss is confirmed by a handshake.
const CONFIRM: &str = "1000";

fn steps(plan: &EvaluationPlan) -> Result<Steps, Unsupported> {
    let mut arguments = words(&format!("scan --summary --confirm {CONFIRM}"));
    arguments.extend(common_arguments(plan, "--against"));
    arguments.extend(site_arguments(plan));
    Ok(Steps::runs([(RUN, arguments)]))
}

fn collect(
    folder: &Path,
    plan: &EvaluationPlan,
    found: &mut Found,
    runs: &mut Vec<Box<dyn Report>>,
) -> anyhow::Result<()> {
    if let Some(run) = run_in(&folder.join(RUN)) {
        let summary = scan::read(&run)?;
        let loss = summary.loss.as_ref();
        let profile = summary.run.client_profile;
        found.losses = loss.and_then(|loss| losses(loss, profile, &plan.from, &plan.to));
        found.web = loss.and_then(|loss| web_loss(loss, &plan.from, &plan.to));
        runs.push(Box::new(summary));
    }
    Ok(())
}
