use std::{ffi::OsString, path::Path};

use netbench_browser::{BrowserProgram, Product};
use netbench_model::{Depth, EvaluationPlan, Target};
use netbench_report::{Found, Report, summarize_browser, summarize_compat};

use super::parts::{Part, Steps, Unsupported, common_arguments, sum_up, words, worker_arguments};

/// The part's name, by which it is left out if no browser was requested.
pub(crate) const NAME: &str = "browsers";

pub(super) const PART: Part = Part {
    name: NAME,
    needs: None,
    steps,
    unstored: |_| Vec::new(),
    collect,
};

const SERVERS: &str = "servers";
const VISITS: &str = "visits";

/// Number of sites that are visited.
const SITES_QUICK: u32 = 10;
const SITES_FULL: u32 = 25;

fn steps(plan: &EvaluationPlan) -> Result<Steps, Unsupported> {
    let mut notes = Vec::new();
    let mut here = Vec::new();
    for name in &plan.browsers {
        let product: Product = name.parse().map_err(Unsupported)?;
        match BrowserProgram::find(product) {
            Ok(_) => here.push(name.as_str()),
            Err(error) => notes.push(error.to_string()),
        }
    }
    if here.is_empty() {
        return Err(Unsupported(notes.join("; ")));
    }
    let here = here.join(",");
    let (from, to) = (plan.from.stack(), plan.to.stack());
    let mut servers = words(&format!("compat --stack {from},{to} --client {here}"));
    servers.extend(worker_arguments(plan));
    if let Some(profile) = plan.client_profile {
        servers.extend([OsString::from("--client-profile"), profile.name().into()]);
    }
    let mut steps = Steps::runs([(SERVERS, servers)]);
    if plan.target == Target::Lab {
        let most = match plan.depth {
            Depth::Quick => SITES_QUICK,
            Depth::Full => SITES_FULL,
        };
        let sites = most.min(plan.sites);
        if sites < plan.sites {
            notes.push(format!(
                "Browsers visited the first {sites} of {} sites.",
                plan.sites
            ));
        }
        let mut visits = words(&format!("browser --browser {here} --limit {sites}"));
        visits.extend(common_arguments(plan, "--stack"));
        if let Some(file) = &plan.sites_file {
            visits.extend(["--sites".into(), file.into()]);
        }
        if let Some(link) = plan.link.as_ref().filter(|link| *link != "none") {
            visits.extend(["--link".into(), link.into()]);
        }
        steps.steps.extend(Steps::runs([(VISITS, visits)]).steps);
    } else {
        notes.push("Browsers visit emulated sites alone: yours were not visited.".to_owned());
    }
    steps.notes = notes;
    Ok(steps)
}

fn collect(
    folder: &Path,
    _plan: &EvaluationPlan,
    found: &mut Found,
    runs: &mut Vec<Box<dyn Report>>,
) -> anyhow::Result<()> {
    let visits = |manifest: &_, samples: Vec<_>| summarize_browser(manifest, &samples);
    sum_up(&folder.join(VISITS), visits, &mut found.visits, runs)?;
    sum_up(
        &folder.join(SERVERS),
        summarize_compat,
        &mut found.clients,
        runs,
    )
}
