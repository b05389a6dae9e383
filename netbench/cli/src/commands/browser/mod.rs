//! `netbench browser`: real browsers visit the lab's sites.

pub(crate) mod args;
mod settings;

use std::{
    collections::{BTreeSet, HashSet},
    ops::ControlFlow,
    time::Duration,
};

use netbench_browser::{BrowserProgram, StartupCache};
use netbench_model::{
    Plan,
    browser::{BrowserManifest, BrowserPlan, VisitOutcome, VisitSample},
};
use netbench_runner::{
    browser::{VisitKey, Visitor, Visits},
    scan::client_settings,
};

use self::args::BrowserOptions;
pub(crate) use self::settings::BrowserSettings;
use crate::{
    client::Unstored,
    cost::Cost,
    exit::Ended,
    pipeline::{self, Measured, Ready, Setup},
    progress::outcome_of,
    stack_names::clients,
    targets::Sites,
};

pub(crate) fn browser(options: &BrowserOptions) -> anyhow::Result<Ended> {
    let settings = BrowserSettings::of_options(options)?;
    let asked = options.start.asked(&options.output);
    pipeline::start(settings, &options.stored_in, "browser", asked)
}

/// Returns the predicted time of a run with these options.
pub(crate) fn time(options: &BrowserOptions) -> anyhow::Result<Duration> {
    Ok(BrowserSettings::of_options(options)?.cost().time)
}

impl Measured for BrowserSettings {
    type Plan = BrowserPlan;

    const UNIT: (&'static str, &'static str) = ("visit", "visits");

    fn of_run(manifest: &BrowserManifest, unstored: &Unstored) -> anyhow::Result<Self> {
        unstored.refuse_certificate(&BrowserPlan::KIND)?;
        Self::of_manifest(manifest)
    }

    fn workers(&self) -> BTreeSet<String> {
        clients(self.stacks())
    }

    fn sites(&self) -> Option<&Sites> {
        Some(&self.over)
    }

    fn cost(&self) -> Cost {
        self.visits().cost()
    }

    fn ready<'a>(
        &'a self,
        setup: &'a Setup,
        earlier: Option<&BrowserManifest>,
    ) -> anyhow::Result<Ready<'a, BrowserPlan>> {
        let checks = match (earlier, setup.targets()?.link()) {
            (None, Some(link)) => link.check(self.over.seed, &setup.stop)?,
            _ => Vec::new(),
        };
        let session = earlier.map_or(0, |manifest| manifest.sessions.len());
        let session = u32::try_from(session).unwrap_or(0);
        let plan = BrowserPlan {
            client: (!self.stacks().is_empty())
                .then(|| client_settings(self.profile, self.stacks(), &setup.workers)),
            ..self.plan.clone()
        };
        let plan = match earlier {
            Some(manifest) => manifest.plan.clone(),
            None => plan,
        };
        let programs = self.programs.as_slice();
        let caches =
            Visitor::new(&visits(&plan, programs, &[], setup, session)?)?.try_browsers()?;
        Ok(Ready {
            plan: plan.clone(),
            checks,
            measure: Box::new(move |folder, mut appender| {
                let visits = visits(&plan, programs, &caches, setup, session)?;
                let visitor = Visitor::new(&visits)?;
                let earlier: Vec<VisitSample> = folder.records()?;
                let done: HashSet<VisitKey> = earlier
                    .iter()
                    .filter(|sample| sample.outcome.counts())
                    .map(|sample| {
                        let (condition, round, site, client) = sample.key();
                        (condition, round, site.to_owned(), client.clone())
                    })
                    .collect();
                let cost = self.cost();
                let left = cost.after(done.len() as u64).time;
                setup.progress.begin(cost.pieces, done.len() as u64, left);
                let mut kept = Ok(());
                visitor.visit_all(&done, |sample| {
                    let failed = matches!(sample.outcome, VisitOutcome::Failed(_));
                    kept = appender.append(&sample);
                    let told = || {
                        format!(
                            "round {}, {}, {}, {}: {}",
                            sample.round + 1,
                            sample.site,
                            sample.condition,
                            sample.client,
                            outcome_of(&sample)
                        )
                    };
                    setup.progress.sampled(told, failed, cost.each());
                    match &kept {
                        Ok(()) => ControlFlow::Continue(()),
                        Err(_) => ControlFlow::Break(()),
                    }
                });
                Ok(kept?)
            }),
        })
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
