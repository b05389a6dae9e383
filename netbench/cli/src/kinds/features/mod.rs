//! `netbench browser features`: pages that test the features of browsers that depend on the network.

use std::{collections::BTreeSet, time::Duration};

use clap::Args;
use netbench_browser::{BrowserProgram, Product};
use netbench_compat::{Feature, GROUPS, built_in_features};
use netbench_model::{
    StackName,
    compat::OutsideClient,
    features::{FeatureOutcome, FeatureSample, FeaturesManifest, FeaturesPlan},
    suggestion,
};
use netbench_report::{FeaturesSummary, summarize_features};
use netbench_runner::features::{FeatureBrowsers, try_features};
use netbench_store::RunFolder;

use super::wanted::{keep, list};
use crate::{
    browsers::{Found, look_again, look_for_browser},
    client::{Unstored, millis},
    cost::times,
    exit::{Ended, WrongInput, bail_input, cannot_continue},
    options::{Asked, Output, StoredIn, between, each_once, sandbox},
    pipeline::{self, Listed, Measured, Session, Setup, Told},
    run,
    sites_file::sha256,
    stored, workers,
};

pub(crate) const EXAMPLES: &str = "\
Examples:
  netbench browser features                   Chromium and Firefox, all pages
  netbench browser features --browser chromium,firefox,webkitgtk
  netbench browser features --group hsts,cookie
  netbench browser features --case 'websocket/*'
  netbench browser features --list            the pages, and what they test
  netbench browser features --format csv > features.csv
  netbench browser features --json | jq '.differences[] | {case, otherwise_in}'

Browsers and the server of the pages are in a network namespace with nothing else
in it. The pages are in netbench/catalogue/features/.";

#[derive(Debug, Args)]
pub(crate) struct Features {
    /// Browsers to try: chromium, firefox, webkitgtk, servo, servo+ring, servo+openssl
    #[arg(
        long,
        short,
        value_name = "B,…",
        value_delimiter = ',',
        default_value = "chromium,firefox"
    )]
    pub(crate) browser: Vec<Product>,
    /// Try only the cases whose names match; * and ? as in a shell
    #[arg(long, value_name = "GLOB")]
    pub(crate) case: Vec<String>,
    /// Try only these groups: fetch, xhr, mixed-content, hsts, websocket, cookie, redirect, connection, worker,
    /// integrity, referrer, secure-context, certificate
    #[arg(long, value_name = "G,…", value_delimiter = ',', value_parser = group)]
    pub(crate) group: Vec<String>,
    /// List the cases with what the pages do, and exit
    #[arg(long)]
    pub(crate) list: bool,

    /// Time a page has for its report
    #[arg(long, value_name = "TIME", default_value = "15s", value_parser = between(Duration::from_secs(1), Duration::from_secs(600)), help_heading = "How")]
    pub(crate) timeout: Duration,
    /// Run the browsers without their sandbox; the report says so
    #[arg(long, help_heading = "How")]
    pub(crate) no_sandbox: bool,

    #[command(flatten)]
    pub(crate) stored_in: StoredIn,
    #[command(flatten)]
    pub(crate) output: Output,
}

/// The time of a page in a running browser on one core.
const PAGE: Duration = Duration::from_millis(700);

fn group(text: &str) -> Result<String, String> {
    match GROUPS.contains(&text) {
        true => Ok(text.to_owned()),
        false => Err(suggestion(text, &GROUPS)),
    }
}

pub(super) fn features(options: &Features) -> anyhow::Result<Ended> {
    if options.list {
        let (cases, _) = chosen(options)?;
        let records = cases.iter().map(|case| &case.record);
        return list(records.map(|case| (case.name.as_str(), case.about.clone())));
    }
    let asked = Asked::short(&[], &options.output);
    let manifest = run::manifest(plan(options)?);
    pipeline::start::<FeaturesRun>(manifest, &options.stored_in, "features", asked)
}

fn plan(options: &Features) -> anyhow::Result<FeaturesPlan> {
    let (cases, text) = chosen(options)?;
    let products = each_once("--browser", &options.browser)?;
    let sandbox = sandbox(options.no_sandbox);
    let browsers = products
        .iter()
        .map(|product| Ok(look_for_browser(*product, sandbox)?.0))
        .collect::<anyhow::Result<Vec<OutsideClient>>>()?;
    Ok(FeaturesPlan {
        clients: browsers
            .iter()
            .map(|browser| browser.name.clone())
            .collect(),
        browsers,
        cases: cases.into_iter().map(|case| case.record).collect(),
        catalogue_sha256: sha256(text.as_bytes()),
        limit_ms: millis(options.timeout),
    })
}

/// Returns the chosen cases, and the text of the catalogue.
fn chosen(options: &Features) -> anyhow::Result<(Vec<Feature>, &'static str)> {
    let (mut all, text) = built_in_features()?;
    let asked = ("netbench browser features", "--case", &*options.case);
    keep(&mut all, |case| &case.record.name, asked)?;
    let groups = &options.group;
    all.retain(|case| groups.is_empty() || groups.iter().any(|it| it == case.record.group()));
    if all.is_empty() {
        bail_input!("no case of --group {} matches --case", groups.join(","));
    }
    Ok((all, text))
}

/// The cases and the browsers of a plan.
pub(crate) struct FeaturesRun {
    cases: Vec<Feature>,
    browsers: Vec<Found<BrowserProgram>>,
}

impl Listed for FeaturesPlan {
    const UNIT: (&'static str, &'static str) = ("page", "pages");
    const SHORTER: &'static str = "--group, --case or fewer browsers";

    fn stacks(&self) -> &[StackName] {
        &self.clients
    }

    fn cases(&self) -> u64 {
        self.cases.len() as u64
    }

    fn time(&self) -> Duration {
        times(PAGE, (self.cases.len() * self.clients.len()) as f64)
    }

    fn workers(&self) -> BTreeSet<String> {
        BTreeSet::new()
    }
}

impl Measured for FeaturesRun {
    type Plan = FeaturesPlan;
    type Report = FeaturesSummary;

    fn read(folder: &RunFolder) -> anyhow::Result<FeaturesSummary> {
        let (manifest, samples) = stored::contents(folder)?;
        Ok(summarize_features(&manifest, samples))
    }

    fn open(run: &FeaturesManifest, _: &Unstored) -> anyhow::Result<Self> {
        let plan = &run.plan;
        let (mut cases, text) = built_in_features()?;
        cases.retain(|case| plan.cases.iter().any(|then| then.name == case.record.name));
        let is_same = sha256(text.as_bytes()) == plan.catalogue_sha256;
        if !is_same || cases.len() != plan.cases.len() {
            return Err(cannot_continue(
                &run.name,
                "the catalogue has changed since",
            ));
        }
        let browsers = plan.browsers.iter().map(|then| {
            let product: Product = then.name.as_str().parse().map_err(WrongInput)?;
            look_again(&run.name, then, |sandbox| {
                look_for_browser(product, sandbox)
            })
        });
        Ok(Self {
            cases,
            browsers: browsers.collect::<anyhow::Result<_>>()?,
        })
    }

    fn isolates_clients(&self) -> bool {
        true
    }

    fn ready(&mut self, _: &Setup, _: &mut FeaturesManifest) -> anyhow::Result<()> {
        // The server is built before the run begins.
        workers::web_server().map(drop)
    }

    fn measure(self, session: Session<'_, FeaturesPlan>) -> anyhow::Result<()> {
        let (plan, setup) = (&session.run.plan, session.setup);
        let earlier = session.earlier()?;
        let (done, mut keeper) = session.resume(&earlier);
        let browsers = FeatureBrowsers {
            browsers: &self.browsers,
            server: workers::web_server()?,
            limit: Duration::from_millis(plan.limit_ms),
            stop: &setup.stop,
        };
        try_features(
            &browsers,
            &self.cases,
            |browser, case| !done.contains(&(&*case.record.name, browser)),
            |sample| keeper.keep(&sample),
        )?;
        Ok(keeper.end()?)
    }
}

impl Told for FeatureSample {
    fn piece(&self) -> String {
        format!("{}, {}", self.case, self.browser)
    }

    fn failed(&self) -> bool {
        matches!(
            self.outcome,
            FeatureOutcome::Crash { .. } | FeatureOutcome::Silent { .. }
        )
    }
}
