//! `netbench connect`: times connections of each stack to each site.

pub(crate) mod args;
mod settings;
mod sweep;

use anyhow::bail;
use netbench_model::{ConnectManifest, ConnectPlan, Sample};
use netbench_runner::{Event, Trials, execute};
use netbench_scan::raise_descriptor_limit;

pub(crate) use self::settings::{ConnectRun, plan};
use self::{args::Connect, settings::decide};
use crate::{
    client::Unstored,
    cost::Connections,
    exit::Ended,
    pipeline::{self, Measure, Measured, Setup, next_session},
    targets::Sites,
};

pub(crate) fn connect(options: &Connect) -> anyhow::Result<Ended> {
    let asked = options
        .start
        .asked(&options.output, options.unstored.clone());
    pipeline::start::<ConnectRun>(plan(options)?, &options.stored_in, "connect", asked)
}

impl Measured for ConnectRun {
    type Plan = ConnectPlan;

    const UNIT: (&'static str, &'static str) = ("sample", "samples");

    fn open(run: &ConnectManifest, unstored: &Unstored) -> anyhow::Result<Self> {
        Self::open(run, unstored)
    }

    fn sites(&self) -> Option<&Sites> {
        Some(&self.over)
    }

    fn ready<'a>(
        &'a self,
        setup: &'a Setup,
        run: &mut ConnectManifest,
    ) -> anyhow::Result<Measure<'a, ConnectPlan>> {
        self.stacks_can(&run.plan, &setup.workers)?;
        enough_descriptors(&run.plan)?;
        if !run.has_begun() {
            decide(&mut run.plan, &setup.workers)?;
        }
        let (targets, session) = (setup.targets()?, next_session(run));
        Ok(Box::new(move |run, folder, appender| {
            let earlier: Vec<Sample> = folder.records()?;
            let work = Connections::of(&run.plan).work();
            let listener = |event: Event| setup.progress.hear(&event, &work);
            let trials = Trials {
                plan: &run.plan,
                shard: run.origin.shard,
                roots_pem: &setup.roots_pem,
                identity: self.shown.identity(),
                request: self.request.clone(),
                session,
            };
            let (workers, stop) = (&setup.workers, &setup.stop);
            execute(
                &trials, workers, targets, &earlier, appender, &listener, stop,
            )?;
            Ok(())
        }))
    }
}

/// Refuses a run that would fail midway, because there are too few descriptors for the workers'
/// pipes.
fn enough_descriptors(plan: &ConnectPlan) -> anyhow::Result<()> {
    const PIPES: u64 = 3;
    const OTHERS: u64 = 50;
    let mut clients = Vec::new();
    for site in &plan.sites {
        let own = site.point.as_deref().map(|point| point.client);
        if !clients.contains(&own) {
            clients.push(own);
        }
    }
    let (jobs, stacks) = (plan.jobs, plan.stacks.len() * clients.len());
    let needed = OTHERS + PIPES * u64::from(jobs) * stacks as u64;
    match raise_descriptor_limit() {
        Some(limit) if limit < needed => bail!(
            "{jobs} jobs of {stacks} stacks need {needed} open files, and this process may have {limit}: \
             raise that with `ulimit -n {needed}`, or take fewer --jobs"
        ),
        _ => Ok(()),
    }
}
