use std::{sync::Arc, time::Duration};

use netbench_browser::{BrowserError, BrowserProgram, Product, other_user};
use netbench_link::LinkChoice;
use netbench_model::{
    Condition, Profile, StackName,
    browser::{BrowserManifest, BrowserPlan, BrowserRecord, Sandbox},
};

use super::args::BrowserOptions;
use crate::{
    client::millis,
    cost::PageVisits,
    exit::bail_input,
    sites_file::{self, SitesFile},
    stack_names::{new_seed, stack_names},
    targets::{Names, Network, Sites, roots},
};

/// The user's options, read and validated.
pub(crate) struct BrowserSettings {
    pub(super) over: Sites,
    /// The plan, without the offers of the stacks, which only workers know.
    pub(super) plan: BrowserPlan,
    pub(super) programs: Vec<BrowserProgram>,
    pub(super) profile: Profile,
}

impl BrowserSettings {
    pub(super) fn of_options(options: &BrowserOptions) -> anyhow::Result<Self> {
        if options.link == LinkChoice::None {
            bail_input!(
                "--link none does not keep a browser off the network: browsers visit sites behind a link alone"
            );
        }
        each_once("--browser", &options.browser)?;
        each_once("--condition", &options.condition)?;
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
        let seed = options.start.seed.unwrap_or_else(new_seed);
        let roots = roots(&options.roots.source(), None)?;
        let mut over = Sites {
            network: Network::Lab,
            file,
            roots,
            link: options.link,
            connect_to: Vec::new(),
            shard: None,
            vantage: crate::run::host(),
            seed,
            names: Names::First,
        };
        let plan = BrowserPlan {
            seed,
            clients,
            browsers,
            conditions: options.condition.clone(),
            rounds: options.rounds,
            sites_file: over.file.name.clone(),
            sites_sha256: over.file.sha256.clone(),
            sites: over.file.sites.to_vec(),
            roots: over.roots_record(),
            client: None,
            page: options.page.clone(),
            limit_ms: millis(options.timeout),
        };
        serve_all(&mut over, &plan)?;
        Ok(Self {
            over,
            plan,
            programs,
            profile: options.client_profile.into(),
        })
    }

    pub(super) fn of_manifest(manifest: &BrowserManifest) -> anyhow::Result<Self> {
        let plan = manifest.plan.clone();
        let file = SitesFile {
            name: plan.sites_file.clone(),
            sha256: plan.sites_sha256.clone(),
            sites: plan.sites.clone().into(),
            // The sites of a run that has begun can be emulated.
            not_emulated: None,
        };
        let mut over = Sites::of_run(manifest, Network::Lab, file, &plan.roots, &[], plan.seed)?;
        serve_all(&mut over, &plan)?;
        let products = plan.browsers.iter().map(|browser| browser.name.parse());
        let products: Result<Vec<Product>, String> = products.collect();
        let products = products.map_err(crate::exit::WrongInput)?;
        let programs = find(&products)?;
        for (then, program) in plan.browsers.iter().zip(&programs) {
            let now = record(program, then.sandbox)?;
            if now != *then {
                bail_input!(
                    "run {} cannot be continued: it was started with {}, and here is {}",
                    manifest.name,
                    then.version,
                    now.version
                );
            }
        }
        let profile = plan.client.as_ref().map(|client| client.profile);
        Ok(Self {
            over,
            plan,
            programs,
            profile: profile.unwrap_or(Profile::Library),
        })
    }

    pub(super) fn stacks(&self) -> &[StackName] {
        &self.plan.clients[self.plan.browsers.len()..]
    }

    pub(super) fn visits(&self) -> PageVisits<'_> {
        PageVisits {
            sites: &self.plan.sites,
            browsers: self.plan.browsers.len(),
            stacks: self.stacks().len(),
            conditions: self.plan.conditions.len(),
            rounds: self.plan.rounds,
            limit: Duration::from_millis(self.plan.limit_ms),
        }
    }
}

/// Adds the other origins of the plan's page to the sites that the lab serves.
fn serve_all(over: &mut Sites, plan: &BrowserPlan) -> anyhow::Result<()> {
    if let Some(page) = &plan.page {
        let served = plan.served_sites();
        let served =
            served.map_err(|why| crate::exit::WrongInput(format!("--page {page}: {why}")))?;
        over.file.sites = served.into();
    }
    Ok(())
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

fn each_once<T: PartialEq + std::fmt::Display>(option: &str, values: &[T]) -> anyhow::Result<()> {
    for (at, value) in values.iter().enumerate() {
        if values[..at].contains(value) {
            bail_input!("{option} names {value} twice");
        }
    }
    Ok(())
}
