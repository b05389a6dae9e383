//! `netbench connect`: times connections of each stack to each site.

pub(crate) mod args;
mod settings;
mod sweep;

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use anyhow::bail;
use netbench_model::{ClientSettings, ConnectManifest, ConnectPlan, Failure, Sample};
use netbench_runner::{Event, Plan, Targets, execute};
use netbench_scan::raise_descriptor_limit;

use self::args::Connect;
pub(crate) use self::settings::ConnectSettings;
use crate::{
    client::Unstored,
    cost::Cost,
    exit::Ended,
    pipeline::{self, Measured, Ready, Setup},
    stack_names::clients,
    targets::Sites,
};

pub(crate) fn connect(options: &Connect) -> anyhow::Result<Ended> {
    let settings = ConnectSettings::of_options(options)?;
    let asked = options.start.asked(&options.output);
    pipeline::start(settings, &options.stored_in, "connect", asked)
}

/// Returns the predicted time of a run with these options.
pub(crate) fn time(options: &Connect) -> anyhow::Result<Duration> {
    Ok(ConnectSettings::of_options(options)?.cost().time)
}

impl Measured for ConnectSettings {
    type Plan = ConnectPlan;

    const UNIT: (&'static str, &'static str) = ("sample", "samples");

    fn of_run(manifest: &ConnectManifest, unstored: &Unstored) -> anyhow::Result<Self> {
        Self::of_manifest(manifest, unstored)
    }

    fn workers(&self) -> BTreeSet<String> {
        clients(&self.stacks)
    }

    fn sites(&self) -> Option<&Sites> {
        Some(&self.over)
    }

    fn cost(&self) -> Cost {
        self.connections().cost()
    }

    fn ready<'a>(
        &'a self,
        setup: &'a Setup,
        earlier: Option<&ConnectManifest>,
    ) -> anyhow::Result<Ready<'a, ConnectPlan>> {
        self.stacks_can(&setup.workers)?;
        self.sweep_can(&setup.workers)?;
        enough_descriptors(self.jobs, self.stacks.len() * self.ways_of_clients())?;
        let client = self.client(&setup.workers)?;
        let targets = setup.targets()?;
        let checks = match (earlier, targets.link()) {
            (None, Some(link)) => link.check(self.over.seed, &setup.stop)?,
            _ => Vec::new(),
        };
        let session = earlier.map_or(0, |manifest| manifest.sessions.len());
        let session = u32::try_from(session).unwrap_or(0);
        let plan = trials(self, client, setup.roots_pem.clone(), targets, session);
        Ok(Ready {
            plan: self.record(&plan),
            checks,
            measure: Box::new(move |folder, appender| {
                let earlier: Vec<Sample> = folder.records()?;
                let work = self.connections().work();
                let listener = |event: Event| setup.progress.hear(&event, &work);
                let (workers, stop) = (&setup.workers, &setup.stop);
                execute(&plan, workers, targets, &earlier, appender, &listener, stop)?;
                Ok(())
            }),
        })
    }
}

/// Refuses a run that would fail midway, because there are too few descriptors for the workers'
/// pipes.
fn enough_descriptors(jobs: u32, stacks: usize) -> anyhow::Result<()> {
    const PIPES: u64 = 3;
    const OTHERS: u64 = 50;
    let needed = OTHERS + PIPES * u64::from(jobs) * stacks as u64;
    match raise_descriptor_limit() {
        Some(limit) if limit < needed => bail!(
            "{jobs} jobs of {stacks} stacks need {needed} open files, and this process may have {limit}: \
             raise that with `ulimit -n {needed}`, or take fewer --jobs"
        ),
        _ => Ok(()),
    }
}

/// Returns the complete input of the trials.
fn trials(
    settings: &ConnectSettings,
    client: ClientSettings,
    roots_pem: String,
    targets: &Targets,
    session: u32,
) -> Plan {
    let sites = settings.over.file.sites.to_vec();
    let unreachable: BTreeMap<usize, Failure> = match targets {
        Targets::Lab(_) => BTreeMap::new(),
        Targets::Hosts(hosts) => hosts
            .iter()
            .enumerate()
            .filter_map(|(i, host)| Some((i, host.as_ref().err()?.clone())))
            .collect(),
    };
    Plan {
        seed: settings.over.seed,
        stacks: settings.stacks.clone(),
        conditions: settings.conditions.clone(),
        rounds: settings.rounds,
        jobs: settings.jobs,
        cpu: settings.cpu,
        target: settings.over.network.target(),
        shard: settings.over.shard,
        sites,
        client,
        roots_pem,
        identity: settings.shown.identity(),
        request: settings.request.clone(),
        timeout: settings.timeout,
        pause: settings.pause(),
        unreachable,
        session,
    }
}
