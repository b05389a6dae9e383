//! `netbench connect`: times connections of each stack to each site.

mod compare;
mod compression;
mod cost;
mod merge;
mod plan;
mod sweep;

use std::time::Duration;

use anyhow::bail;
use netbench_model::{ConnectManifest, ConnectPlan, Outcome, Role, Sample, StackName, Target};
use netbench_protocol::{HttpRequest, Operation};
use netbench_report::ConnectReport;
use netbench_runner::{Event, Trials, Workers, execute};
use netbench_scan::raise_descriptor_limit;
use netbench_store::RunFolder;

pub(crate) use self::plan::{Connect, EXAMPLES, plan};
use self::{
    cost::Connections,
    plan::{decide, how, sweep_can},
};
use crate::{
    client::{self, Shown, Unstored, all_can},
    exit::Ended,
    pipeline::{self, CompareRuns, Listed, Measured, MergeRuns, Session, Setup},
    progress::Progress,
    stored,
    targets::{self, Needs, Sites},
};

pub(crate) fn connect(options: &Connect) -> anyhow::Result<Ended> {
    let asked = options
        .start
        .asked(&options.output, options.unstored.clone());
    pipeline::start::<ConnectRun>(plan(options)?, &options.stored_in, "connect", asked)
}

impl Listed for ConnectPlan {
    const UNIT: (&'static str, &'static str) = ("sample", "samples");
    const SHORTER: &'static str = "fewer --rounds or a --limit";

    fn stacks(&self) -> &[StackName] {
        &self.stacks
    }

    fn cases(&self) -> u64 {
        self.site_count()
    }

    fn time(&self) -> Duration {
        Connections::of(self).time()
    }
}

/// The sites of a plan, and the values that it only describes.
pub(crate) struct ConnectRun {
    over: Sites,
    /// The request that is sent to every site, each at the site's own path.
    request: HttpRequest,
    shown: Shown,
}

impl Measured for ConnectRun {
    type Plan = ConnectPlan;
    type Report = ConnectReport;

    const MERGE: Option<MergeRuns> = Some(merge::merge);

    const COMPARE: Option<CompareRuns> = Some(compare::compare);

    fn read(folder: &RunFolder) -> anyhow::Result<ConnectReport> {
        let (manifest, samples) = stored::contents(folder)?;
        Ok(ConnectReport::new(manifest, samples))
    }

    fn accept(_: &Unstored) -> anyhow::Result<()> {
        Ok(())
    }

    fn open(run: &ConnectManifest, unstored: &Unstored) -> anyhow::Result<Self> {
        let plan = &run.plan;
        let over = Sites {
            target: plan.target,
            how: how(plan),
            sites: plan.sites.clone().into(),
            roots: targets::roots_of_run(run, &plan.roots)?,
            link: targets::link_of_run(run, plan.link.as_deref())?,
            connect_to: plan.connect_to.clone(),
            seed: plan.seed,
            needs: Needs::Times,
        };
        over.validate(run)?;
        let shown = unstored.identity.load()?;
        shown.must_be(&run.name, plan.client_certificate.as_ref())?;
        Ok(Self {
            over,
            request: client::request_again(&run.name, &plan.request, &unstored.header)?,
            shown,
        })
    }

    fn sites(&self) -> Option<&Sites> {
        Some(&self.over)
    }

    fn ready(&mut self, setup: &Setup, run: &mut ConnectManifest) -> anyhow::Result<()> {
        self.stacks_can(&run.plan, &setup.workers)?;
        enough_descriptors(&run.plan)?;
        if !run.has_begun() {
            decide(&mut run.plan, &setup.workers)?;
            run.plan.compression = compression::record(&run.plan, setup)?;
        }
        Ok(())
    }

    fn measure(self, session: Session<'_, ConnectPlan>) -> anyhow::Result<()> {
        let (run, setup) = (session.run, session.setup);
        let work = Connections::of(&run.plan);
        let trials = Trials {
            plan: &run.plan,
            shard: run.origin.shard,
            roots_pem: &setup.roots_pem,
            identity: self.shown.identity(),
            request: self.request.clone(),
            session: session.number(),
        };
        execute(
            &trials,
            &setup.workers,
            setup.targets()?,
            &session.earlier()?,
            session.appender,
            &|event| hear(&setup.progress, &event, &work),
            &setup.stop,
        )?;
        Ok(())
    }
}

impl ConnectRun {
    /// Refuses stacks that do not support the plan, and would measure something else.
    fn stacks_can(&self, plan: &ConnectPlan, workers: &Workers) -> anyhow::Result<()> {
        let stacks = plan.stacks.iter().map(StackName::stack);
        let paths = plan.sites.iter().any(|site| site.path != "/");
        if paths || !self.request.is_usual() {
            let what = "send a path, method or headers of your own";
            all_can(stacks.clone(), workers, Operation::Request, what)?;
        }
        let mut sites = plan.sites.iter();
        let is_required =
            plan.target == Target::Lab && sites.any(|site| site.lab.client_chain.is_some());
        if self.shown.0.is_some() || is_required {
            let what = "show a client certificate";
            all_can(stacks, workers, Operation::ClientCertificate, what)?;
        }
        Ok(sweep_can(plan, workers)?)
    }
}

/// Shows an event of the measurement in the progress.
fn hear(progress: &Progress, event: &Event, work: &Connections<'_>) {
    match event {
        Event::Begin { samples, done } => {
            progress.begin(*samples, *done, work.left(*samples, *done));
        }
        Event::Sampled(sample) if sample.role == Role::Measured && sample.outcome.counts() => {
            let failed = matches!(sample.outcome, Outcome::Failed(_));
            progress.ended(|| told(sample), failed, work.piece(sample));
        }
        Event::Sampled(_) => {}
        Event::Again(samples) => progress.change(|left| left + samples),
        Event::ServerDied { server, why } => {
            progress.stage(&format!("the lab's server {server}: {why}"));
        }
        Event::WorkerLost { stack, why } => progress.stage(&format!("{stack}: {why}")),
    }
}

/// Formats a sample in a line. Reasons come from servers and workers.
fn told(sample: &Sample) -> String {
    let came = match &sample.outcome {
        Outcome::Ok(figures) => {
            let total_ms = figures.phases.total_ns as f64 / 1e6;
            let agreed = figures.client.version.zip(figures.client.suite);
            let agreed = agreed.map(|(version, suite)| format!(", TLS {version}, {suite}"));
            format!("{total_ms:.2} ms{}", agreed.unwrap_or_default())
        }
        Outcome::Failed(failure) => format!("{}: {}", failure.class, failure.reason),
        Outcome::Unsupported { reason } => format!("not tried: {reason}"),
        Outcome::Discarded { reason } => format!("discarded: {reason}"),
    };
    format!(
        "round {}, {}, {}, {}: {came}",
        sample.round + 1,
        sample.site,
        sample.condition,
        sample.stack
    )
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
