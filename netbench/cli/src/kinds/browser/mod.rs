//! `netbench browser`: real browsers visit the lab's sites.

mod cost;
mod plan;

use std::{collections::BTreeSet, time::Duration};

use netbench_browser::{BrowserProgram, Product, StartupCache};
use netbench_model::{
    StackName, Target,
    browser::{BrowserManifest, BrowserPlan, VisitOutcome, VisitSample},
};
use netbench_report::{BrowserSummary, summarize_browser};
use netbench_runner::{
    browser::{Visitor, Visits},
    scan::client_settings,
};
use netbench_store::RunFolder;

pub(crate) use self::plan::{BrowserOptions, EXAMPLES, Part, plan};
use self::plan::{find, record, stacks};
use super::features;
use crate::{
    client::Unstored,
    exit::{Ended, WrongInput, cannot_continue},
    pipeline::{self, Listed, Measured, Session, Setup, Told},
    stack_names::clients,
    stored,
    targets::{self, Needs, Sites},
};

pub(crate) fn browser(options: &BrowserOptions) -> anyhow::Result<Ended> {
    match &options.part {
        Some(Part::Features(options)) => features::features(options),
        None => visits(options),
    }
}

fn visits(options: &BrowserOptions) -> anyhow::Result<Ended> {
    let asked = options.start.asked(&options.output, Unstored::default());
    pipeline::start::<BrowserRun>(plan(options)?, &options.stored_in, "browser", asked)
}

impl Listed for BrowserPlan {
    const UNIT: (&'static str, &'static str) = ("visit", "visits");
    const SHORTER: &'static str = "fewer --rounds or a --limit";

    fn stacks(&self) -> &[StackName] {
        &self.clients
    }

    fn cases(&self) -> u64 {
        self.sites.len() as u64
    }

    fn time(&self) -> Duration {
        cost::time(self)
    }

    fn workers(&self) -> BTreeSet<String> {
        clients(stacks(self))
    }
}

/// The sites and browsers of a plan.
pub(crate) struct BrowserRun {
    over: Sites,
    programs: Vec<BrowserProgram>,
    /// The caches of the browsers after their first start, with which later profiles begin.
    caches: Vec<StartupCache>,
}

impl Measured for BrowserRun {
    type Plan = BrowserPlan;
    type Report = BrowserSummary;

    fn read(folder: &RunFolder) -> anyhow::Result<BrowserSummary> {
        let (manifest, samples) = stored::contents(folder)?;
        Ok(summarize_browser(&manifest, &samples))
    }

    fn open(run: &BrowserManifest, _: &Unstored) -> anyhow::Result<Self> {
        let plan = &run.plan;
        let mut over = Sites {
            target: Target::Lab,
            how: String::new(),
            sites: plan.sites.clone().into(),
            roots: targets::roots_of_run(run, &plan.roots)?,
            link: targets::link_of_run(run, plan.link.as_deref())?,
            connect_to: Vec::new(),
            seed: plan.seed,
            needs: Needs::Times,
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
                let (then, now) = (&then.version, &now.version);
                let why = format!("it was started with {then}, and here is {now}");
                return Err(cannot_continue(&run.name, why));
            }
        }
        Ok(Self {
            over,
            programs,
            caches: Vec::new(),
        })
    }

    fn sites(&self) -> Option<&Sites> {
        Some(&self.over)
    }

    fn ready(&mut self, setup: &Setup, run: &mut BrowserManifest) -> anyhow::Result<()> {
        if let (false, Some(client)) = (run.has_begun(), &run.plan.client) {
            let settings = client_settings(client.profile, stacks(&run.plan), &setup.workers);
            run.plan.client = Some(settings);
        }
        let first = self.visits(&run.plan, setup, 0)?;
        self.caches = Visitor::new(&first)?.try_browsers()?;
        Ok(())
    }

    fn measure(self, session: Session<'_, BrowserPlan>) -> anyhow::Result<()> {
        let visits = self.visits(&session.run.plan, session.setup, session.number())?;
        let visitor = Visitor::new(&visits)?;
        let earlier = session.earlier()?;
        let (done, mut keeper) = session.resume(&earlier);
        visitor.visit_all(&done, |sample| keeper.keep(&sample));
        Ok(keeper.end()?)
    }
}

impl BrowserRun {
    fn visits<'a>(
        &'a self,
        plan: &'a BrowserPlan,
        setup: &'a Setup,
        session: u32,
    ) -> anyhow::Result<Visits<'a>> {
        Ok(Visits {
            plan,
            programs: &self.programs,
            startup_caches: &self.caches,
            workers: &setup.workers,
            targets: setup.targets()?,
            roots_pem: &setup.roots_pem,
            session,
            stop: &setup.stop,
        })
    }
}

impl Told for VisitSample {
    fn piece(&self) -> String {
        format!(
            "round {}, {}, {}, {}",
            self.round + 1,
            self.site,
            self.condition,
            self.client
        )
    }

    fn failed(&self) -> bool {
        matches!(self.outcome, VisitOutcome::Failed(_))
    }
}
