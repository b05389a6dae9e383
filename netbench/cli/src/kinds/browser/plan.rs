use std::{path::PathBuf, sync::Arc, time::Duration};

use clap::{Args, Subcommand, ValueHint};
use netbench_browser::{BrowserError, BrowserProgram, Product, other_user};
use netbench_link::LinkChoice;
use netbench_model::{
    ClientSettings, Condition, StackName,
    browser::{BrowserManifest, BrowserPlan, BrowserRecord, ObjectsPage, Sandbox},
};

use super::super::features::{self, Features};
use crate::{
    browsers,
    client::millis,
    exit::bail_input,
    options::{
        Output, ProfileArg, RootsOptions, StartOptions, StoredIn, between, each_once, sandbox,
    },
    run, sites_file,
    stack_names::{new_seed, stack_names},
    targets,
};

pub(crate) const EXAMPLES: &str = "\
Examples:
  netbench browser                            Chromium on 101 sites, one visit each
  netbench browser --limit 10 --stack rustls-aws-lc,openssl
  netbench browser --condition clean,resumed --rounds 5
  netbench browser --browser chromium,firefox --page objects=24,origins=6 --limit 10
  netbench browser --browser chromium,firefox,webkitgtk --stack rustls-aws-lc
  netbench browser --browser servo,servo+ring --limit 20
  netbench browser --sites mine.txt --link tun
  netbench browser features                   pages that test fetch, cookies, HSTS, …
  netbench browser --json | jq '.failures[] | {site, client, code}'

Browsers run in a network namespace without a way out. Each visit has a fresh
profile, which alone trusts the lab's root, and nothing is left of it.";

/// The further kinds of runs with browsers.
#[derive(Debug, Subcommand)]
pub(crate) enum Part {
    /// Find out which features of the web that depend on the network work in each browser
    #[command(after_help = features::EXAMPLES)]
    Features(Box<Features>),
}

#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    mut_arg("seed", |seed| seed.help("Seed of the order of visits and of packet losses [default: a new one]")),
)]
pub(crate) struct BrowserOptions {
    #[command(subcommand)]
    pub(crate) part: Option<Part>,
    /// Browsers to drive: chromium, firefox, webkitgtk, servo, servo+ring, servo+openssl
    #[arg(
        long,
        short,
        value_name = "B,…",
        value_delimiter = ',',
        default_value = "chromium"
    )]
    pub(crate) browser: Vec<Product>,
    /// Stacks that make the same connections beside them, through hyper
    #[arg(long, short, value_name = "A,B,…", value_delimiter = ',')]
    pub(crate) stack: Vec<String>,
    /// Read the sites from FILE instead of taking the 101 built-in ones
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) sites: Option<PathBuf>,
    /// Use only the first N sites
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) limit: Option<u32>,
    /// Conditions: clean (a fresh profile), resumed (the second visit of a profile)
    #[arg(
        long,
        value_name = "C,…",
        value_delimiter = ',',
        default_value = "clean"
    )]
    pub(crate) condition: Vec<Condition>,
    /// Rounds; in each, every browser visits every site once
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) rounds: u32,

    /// Visit a page with this many objects instead, from one origin or more: objects=24,origins=6
    #[arg(long, value_name = "PAGE", help_heading = "How")]
    pub(crate) page: Option<ObjectsPage>,
    /// Run the browsers without their sandbox; the report says so
    #[arg(long, help_heading = "How")]
    pub(crate) no_sandbox: bool,
    /// Time limit of one visit, the browser's start included
    #[arg(long, value_name = "TIME", default_value = "20s", value_parser = between(Duration::from_secs(1), Duration::from_secs(600)), help_heading = "How")]
    pub(crate) timeout: Duration,
    /// How to emulate the network: auto, user, tun, netem
    #[arg(
        long,
        value_name = "LINK",
        default_value = "auto",
        help_heading = "How"
    )]
    pub(crate) link: LinkChoice,
    /// How to set up the stacks' connectors
    #[arg(long, value_name = "P", value_enum, default_value_t = ProfileArg::Library, help_heading = "How")]
    pub(crate) client_profile: ProfileArg,
    #[command(flatten, next_help_heading = "How")]
    pub(crate) roots: RootsOptions,
    #[command(flatten)]
    pub(crate) start: StartOptions,

    #[command(flatten)]
    pub(crate) stored_in: StoredIn,
    #[command(flatten)]
    pub(crate) output: Output,
}

/// Returns the plan of the options, without the offers of the stacks, which only workers know.
pub(crate) fn plan(options: &BrowserOptions) -> anyhow::Result<BrowserManifest> {
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
    if options.condition.contains(&Condition::EarlyData) {
        bail_input!(
            "--condition early-data is for stacks: a browser decides by itself when it sends early data"
        );
    }
    let sandbox = sandbox(options.no_sandbox);
    let programs = find(&options.browser)?;
    let browsers = programs
        .iter()
        .map(|program| record(program, sandbox))
        .collect::<Result<Vec<_>, _>>()?;
    let mut file = sites_file::read(options.sites.as_deref())?;
    sites_file::refuse_what_is_not_emulated(&file)?;
    let mut sites = file.sites.iter();
    if let Some(site) = sites.find(|site| site.lab.client_chain.is_some()) {
        bail_input!(
            "{}: {} has client-cert, and browsers have no certificate to send; leave the field out, or use netbench connect",
            file.name,
            site.name()
        );
    }
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
    Ok(BrowserManifest {
        origin: targets::here(),
        ..run::manifest(plan)
    })
}

/// Returns the stacks of a plan, which follow its browsers.
pub(super) fn stacks(plan: &BrowserPlan) -> &[StackName] {
    &plan.clients[plan.browsers.len()..]
}

pub(super) fn find(products: &[Product]) -> anyhow::Result<Vec<BrowserProgram>> {
    let programs = products
        .iter()
        .map(|product| Ok(browsers::find(*product)??));
    programs.collect()
}

pub(super) fn record(
    program: &BrowserProgram,
    sandbox: Sandbox,
) -> Result<BrowserRecord, BrowserError> {
    let product = program.product();
    let sandbox = product.sandbox(sandbox);
    Ok(BrowserRecord {
        name: product.to_string(),
        version: program.version().to_owned(),
        library: product.library().to_owned(),
        sandbox,
        user: other_user(sandbox)?.map(|user| user.name),
        settings: product.settings(),
    })
}
