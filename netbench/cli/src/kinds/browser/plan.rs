use std::sync::Arc;

use netbench_browser::{BrowserError, BrowserProgram, Product, StartupCache, other_user};
use netbench_link::LinkChoice;
use netbench_model::{
    ClientSettings, Condition, StackName,
    browser::{BrowserManifest, BrowserPlan, BrowserRecord, Sandbox},
};

use super::args::BrowserOptions;
use crate::{
    client::millis,
    exit::{WrongInput, bail_input},
    options::each_once,
    run::Planned,
    sites_file,
    stack_names::{new_seed, stack_names},
    targets::{self, Names, Network, Sites},
};

/// The sites and browsers of a plan.
pub(crate) struct BrowserRun {
    pub(super) over: Sites,
    pub(super) programs: Vec<BrowserProgram>,
    /// What the browsers wrote at their first start, which later profiles begin with.
    pub(super) caches: Vec<StartupCache>,
}

/// Returns the plan of the options, without the offers of the stacks, which only workers know.
pub(crate) fn plan(options: &BrowserOptions) -> anyhow::Result<Planned<BrowserPlan>> {
    if options.link == LinkChoice::None {
        bail_input!(
            "--link none does not keep a browser off the network: browsers visit sites behind a link alone"
        );
    }
    each_once("--browser", &options.browser)?;
    if options.page.is_some() && !options.stack.is_empty() {
        bail_input!(
            "--page is for browsers alone: a stack makes one connection and loads no objects, so leave --stack out"
        );
    }
    if options.condition.contains(&Condition::Cold) {
        bail_input!(
            "--condition cold is no condition of a browser: in clean, each visit has a process of its own"
        );
    }
    let sandbox = if options.no_sandbox {
        Sandbox::Off
    } else {
        Sandbox::On
    };
    let programs = find(&options.browser)?;
    let browsers = programs
        .iter()
        .map(|program| record(program, sandbox))
        .collect::<Result<Vec<_>, _>>()?;
    let mut file = sites_file::read(options.sites.as_deref())?;
    sites_file::refuse_what_is_not_emulated(&file)?;
    if let Some(limit) = options.limit {
        Arc::make_mut(&mut file.sites).truncate(limit as usize);
    }
    let mut clients: Vec<StackName> = browsers
        .iter()
        .map(|browser| StackName::new(browser.name.as_str()))
        .collect();
    if !options.stack.is_empty() {
        clients.extend(stack_names(&options.stack));
    }
    let plan = BrowserPlan {
        seed: options.start.seed.unwrap_or_else(new_seed),
        client: (!options.stack.is_empty())
            .then(|| ClientSettings::undecided(options.client_profile.into())),
        clients,
        browsers,
        conditions: each_once("--condition", &options.condition)?.to_vec(),
        rounds: options.rounds,
        sites_file: file.name,
        sites_sha256: file.sha256,
        sites: file.sites.to_vec(),
        roots: targets::roots_record(&options.roots, None)?,
        page: options.page.clone(),
        limit_ms: millis(options.timeout),
        link: targets::requested(options.link),
    };
    Ok(Planned {
        origin: targets::here(),
        ..plan.into()
    })
}

impl BrowserRun {
    pub(super) fn open(run: &BrowserManifest) -> anyhow::Result<Self> {
        let plan = &run.plan;
        let mut over = Sites {
            network: Network::Lab,
            sites: plan.sites.clone().into(),
            roots: targets::roots_of_run(run, &plan.roots)?,
            link: targets::link_of_run(run, plan.link.as_deref())?,
            connect_to: Vec::new(),
            seed: plan.seed,
            names: Names::First,
        };
        over.validate(run)?;
        if let Some(page) = &plan.page {
            // The lab also serves the other origins of the page.
            let served = plan.served_sites();
            let served = served.map_err(|why| WrongInput(format!("--page {page}: {why}")))?;
            over.sites = served.into();
        }
        let products = plan.browsers.iter().map(|browser| browser.name.parse());
        let products: Result<Vec<Product>, String> = products.collect();
        let programs = find(&products.map_err(WrongInput)?)?;
        for (then, program) in plan.browsers.iter().zip(&programs) {
            let now = record(program, then.sandbox)?;
            if now != *then {
                bail_input!(
                    "run {} cannot be continued: it was started with {}, and here is {}",
                    run.name,
                    then.version,
                    now.version
                );
            }
        }
        Ok(Self {
            over,
            programs,
            caches: Vec::new(),
        })
    }
}

/// Returns the stacks of a plan, which follow its browsers.
pub(super) fn stacks(plan: &BrowserPlan) -> &[StackName] {
    &plan.clients[plan.browsers.len()..]
}

fn find(products: &[Product]) -> Result<Vec<BrowserProgram>, BrowserError> {
    products.iter().copied().map(BrowserProgram::find).collect()
}

fn record(program: &BrowserProgram, sandbox: Sandbox) -> Result<BrowserRecord, BrowserError> {
    let product = program.product();
    let sandbox = if product.has_sandbox() {
        sandbox
    } else {
        Sandbox::Off
    };
    Ok(BrowserRecord {
        name: product.to_string(),
        version: program.version().to_owned(),
        library: product.library().to_owned(),
        sandbox,
        user: other_user(sandbox)?.map(|user| user.name),
        settings: product.settings(),
    })
}
