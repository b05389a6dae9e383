//! `netbench browser`: real browsers visit the lab's sites.

pub(crate) mod args;
mod settings;

use netbench_browser::{BrowserProgram, StartupCache};
use netbench_model::{
    Plan, Recorded,
    browser::{BrowserManifest, BrowserPlan, VisitOutcome, VisitSample},
};
use netbench_runner::{
    browser::{Visitor, Visits},
    scan::client_settings,
};

use self::args::BrowserOptions;
pub(crate) use self::settings::{BrowserRun, plan, stacks};
use crate::{
    client::Unstored,
    exit::Ended,
    pipeline::{self, Keeper, Measure, Measured, Setup, Told, next_session},
    targets::Sites,
};

pub(crate) fn browser(options: &BrowserOptions) -> anyhow::Result<Ended> {
    let asked = options.start.asked(&options.output, Unstored::default());
    pipeline::start::<BrowserRun>(plan(options)?, &options.stored_in, "browser", asked)
}

impl Measured for BrowserRun {
    type Plan = BrowserPlan;

    const UNIT: (&'static str, &'static str) = ("visit", "visits");

    fn open(run: &BrowserManifest, unstored: &Unstored) -> anyhow::Result<Self> {
        unstored.refuse_certificate(&BrowserPlan::KIND)?;
        Self::open(run)
    }

    fn sites(&self) -> Option<&Sites> {
        Some(&self.over)
    }

    fn ready<'a>(
        &'a self,
        setup: &'a Setup,
        run: &mut BrowserManifest,
    ) -> anyhow::Result<Measure<'a, BrowserPlan>> {
        if let (false, Some(client)) = (run.has_begun(), &run.plan.client) {
            let settings = client_settings(client.profile, stacks(&run.plan), &setup.workers);
            run.plan.client = Some(settings);
        }
        let (programs, session) = (self.programs.as_slice(), next_session(run));
        let first = visits(&run.plan, programs, &[], setup, session)?;
        let caches = Visitor::new(&first)?.try_browsers()?;
        Ok(Box::new(move |run, folder, appender| {
            let plan = &run.plan;
            let visits = visits(plan, programs, &caches, setup, session)?;
            let visitor = Visitor::new(&visits)?;
            let earlier: Vec<VisitSample> = folder.records()?;
            let done = plan.done(&earlier);
            let mut keeper = Keeper::begin(plan, done.len() as u64, appender, &setup.progress);
            visitor.visit_all(&done, |sample| keeper.keep(&sample));
            Ok(keeper.end()?)
        }))
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

fn visits<'a>(
    plan: &'a BrowserPlan,
    programs: &'a [BrowserProgram],
    startup_caches: &'a [StartupCache],
    setup: &'a Setup,
    session: u32,
) -> anyhow::Result<Visits<'a>> {
    Ok(Visits {
        plan,
        programs,
        startup_caches,
        workers: &setup.workers,
        targets: setup.targets()?,
        roots_pem: &setup.roots_pem,
        session,
        stop: &setup.stop,
    })
}
