use std::path::{Path, PathBuf};

use netbench_browser::{Outside, Product};
use netbench_link::LinkChoice;
use netbench_model::{Depth, EvaluationPlan, Target, browser::BrowserManifest};

use super::{
    compat::servers,
    part::{Load, Needs, Part, Results, Step, Steps, names, usual},
};
use crate::{
    browsers,
    client::Unstored,
    exit::in_a_line,
    kinds::{
        browser::{self, BrowserOptions, BrowserRun},
        compat::{Client, CompatRun},
    },
    targets,
};

/// The part's name, by which it is left out if no browser was requested.
pub(crate) const NAME: &str = "browsers";

pub(super) const PART: Part = Part {
    name: NAME,
    needs: Needs::Workers,
    load: Load::Timed,
    steps,
    collect,
};

const SERVERS: &str = "servers";
const VISITS: &str = "visits";

/// Number of sites that are visited.
const SITES_QUICK: u32 = 10;
const SITES_FULL: u32 = 25;

fn steps<'a>(plan: &'a EvaluationPlan, _: &'a Unstored) -> Result<Steps<'a>, String> {
    let mut notes = Vec::new();
    let mut here = Vec::new();
    for name in &plan.browsers {
        let product: Product = name.parse()?;
        match browsers::find(product).map_err(|error| in_a_line(&error))? {
            Ok(_) => here.push(product),
            Err(error) => notes.push(error.to_string()),
        }
    }
    if here.is_empty() {
        return Err(notes.join("; "));
    }
    let browsers = here.iter().copied().map(Outside::Browser);
    let clients: Vec<Client> = browsers.map(Client::Outside).collect();
    let mut steps = vec![Step::run(SERVERS, move || servers(plan, clients.clone()))];
    if plan.target == Target::Lab {
        let most = match (plan.depth, here.as_slice()) {
            (Depth::Quick, _) => SITES_QUICK,
            // The page loads of the two are a part of the answer.
            (Depth::Full, [Product::Servo(_), Product::Servo(_)]) => plan.sites,
            (Depth::Full, _) => SITES_FULL,
        };
        let sites = most.min(plan.sites);
        if sites < plan.sites {
            notes.push(format!(
                "Browsers visited the first {sites} of {} sites.",
                plan.sites
            ));
        }
        steps.push(Step::run(VISITS, move || visits(plan, &here, sites)));
    } else {
        notes.push("Browsers visit emulated sites alone: yours were not visited.".to_owned());
    }
    Ok(Steps { steps, notes })
}

fn visits(
    plan: &EvaluationPlan,
    browsers: &[Product],
    sites: u32,
) -> anyhow::Result<BrowserManifest> {
    let mut options: BrowserOptions = usual()?;
    options.browser = browsers.to_vec();
    options.stack = names(plan).to_vec();
    options.sites = plan.sites_file.as_ref().map(PathBuf::from);
    options.limit = Some(sites);
    options.start.seed = Some(plan.seed);
    // Without a link, a browser would not be kept off the network.
    options.link = match targets::link(plan.link.as_deref())? {
        LinkChoice::None => LinkChoice::Auto,
        link => link,
    };
    browser::plan(&options)
}

fn collect(folder: &Path, _: &EvaluationPlan, results: &mut Results) -> anyhow::Result<()> {
    let visits = folder.join(VISITS);
    results.found.visits = results.add_whole::<BrowserRun>(&visits)?;
    let servers = folder.join(SERVERS);
    results.found.clients = results.add_whole::<CompatRun>(&servers)?;
    Ok(())
}
