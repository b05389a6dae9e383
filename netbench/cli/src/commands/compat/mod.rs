//! `netbench compat`: tries each stack with a catalogue of servers.

pub(crate) mod args;
pub(crate) mod breakages;
mod cases;
pub(crate) mod chains;
mod outside;
pub(crate) mod roots;

use std::{collections::HashSet, time::Duration};

use netbench_compat::Case;
use netbench_model::{
    Plan, Profile, Recorded, StackName,
    compat::{CompatCase, CompatManifest, CompatOutcome, CompatPlan, CompatSample},
};
use netbench_runner::{
    compat::{CompatClients, OutsideClients, try_cases, try_engines, try_outside},
    scan::client_settings,
};

pub(crate) use self::outside::{Client, engines};
use self::{
    args::{Compat, Part},
    cases::Cases,
    outside::Clients,
};
use crate::{
    client::{Unstored, millis},
    exit::{Ended, bail_input},
    output,
    pipeline::{self, Asked, Keeper, Measure, Measured, Networks, Setup, Told},
    stack_names::stack_names,
};

pub(crate) fn compat(options: &Compat) -> anyhow::Result<Ended> {
    match &options.part {
        Some(Part::Chains(options)) => chains::chains(options),
        Some(Part::Roots(options)) => roots::roots(options),
        Some(Part::Breakages(options)) => breakages::breakages(options),
        None => servers(options),
    }
}

fn servers(options: &Compat) -> anyhow::Result<Ended> {
    let plan = plan(options)?;
    if options.list {
        output::write(list(&plan).as_bytes())?;
        return Ok(Ended::Well);
    }
    let asked = Asked::short(&options.own, &options.output);
    pipeline::start::<CompatRun>(plan, &options.stored_in, "compat", asked)
}

/// Returns the plan of the options, without the descriptions of engines, which only workers know.
pub(crate) fn plan(options: &Compat) -> anyhow::Result<CompatPlan> {
    let cases = Cases::read(options.catalogue.as_deref())?;
    let chosen = cases.matching(&options.case)?;
    let stacks = stack_names(&options.stacks.names());
    Ok(CompatPlan {
        clients: outside::find(options, &stacks)?.records,
        stacks,
        cases: chosen.into_iter().map(|case| case.record).collect(),
        catalogue: cases.name,
        catalogue_sha256: cases.sha256,
        client_profile: options.client_profile.into(),
        limit_ms: millis(options.timeout),
    })
}

/// Returns a line for each case: its name, and the expected outcome.
fn list(plan: &CompatPlan) -> String {
    let width = plan.cases.iter().map(|case| case.name.len()).max();
    let width = width.unwrap_or_default();
    let line = |case: &CompatCase| format!("{:width$}  {}\n", case.name, case.expected);
    plan.cases.iter().map(line).collect()
}

/// The cases and the clients of a plan.
pub(crate) struct CompatRun {
    cases: Vec<Case>,
    clients: Clients,
}

impl Measured for CompatRun {
    type Plan = CompatPlan;

    const UNIT: (&'static str, &'static str) = ("try", "tries");

    fn open(run: &CompatManifest, unstored: &Unstored) -> anyhow::Result<Self> {
        unstored.refuse_certificate(&CompatPlan::KIND)?;
        let plan = &run.plan;
        let file = (plan.catalogue != cases::BUILT_IN_NAME).then_some(plan.catalogue.as_ref());
        let cases = Cases::read(file)?;
        if cases.sha256 != plan.catalogue_sha256 {
            bail_input!(
                "run {} cannot be continued: its catalogue ({}) has changed since",
                run.name,
                plan.catalogue
            );
        }
        let names: HashSet<&str> = plan.cases.iter().map(|case| case.name.as_str()).collect();
        let mut chosen = cases.all;
        chosen.retain(|case| names.contains(case.record.name.as_str()));
        Ok(Self {
            cases: chosen,
            clients: outside::find_again(&run.name, &plan.clients)?,
        })
    }

    fn networks(&self) -> Networks {
        if self.clients.outside.is_empty() {
            Networks::None
        } else {
            Networks::OfClients
        }
    }

    fn ready<'a>(
        &'a self,
        setup: &'a Setup,
        run: &mut CompatManifest,
    ) -> anyhow::Result<Measure<'a, CompatPlan>> {
        outside::describe(&mut run.plan.clients, &setup.workers)?;
        Ok(Box::new(move |run, folder, appender| {
            let (plan, workers) = (&run.plan, &setup.workers);
            let earlier: Vec<CompatSample> = folder.records()?;
            let done = plan.done(&earlier);
            let mut keeper = Keeper::begin(plan, done.len() as u64, appender, &setup.progress);
            let client = client_settings(plan.client_profile, &plan.stacks, workers);
            let clients = CompatClients {
                workers,
                client: &client,
                limit: Duration::from_millis(plan.limit_ms),
                stop: &setup.stop,
            };
            let wanted =
                |stack: &StackName, case: &Case| !done.contains(&(&*case.record.name, stack));
            let mut found = |sample: CompatSample| keeper.keep(&sample);
            try_cases(&clients, &plan.stacks, &self.cases, wanted, &mut found)?;
            let engines = engines(plan);
            let own = client_settings(Profile::Library, &engines, workers);
            let embedded = CompatClients {
                client: &own,
                ..clients
            };
            try_engines(&embedded, &engines, &self.cases, wanted, &mut found)?;
            // The outside clients run last: stacks have shorter time limits, and browsers need
            // both cores.
            let outside = OutsideClients {
                clients: &self.clients.outside,
                limit: clients.limit,
                stop: clients.stop,
            };
            try_outside(&outside, &self.cases, wanted, &mut found)?;
            Ok(keeper.end()?)
        }))
    }
}

impl Told for CompatSample {
    fn piece(&self) -> String {
        format!("{}, {}", self.case, self.stack)
    }

    fn failed(&self) -> bool {
        matches!(
            self.outcome,
            CompatOutcome::Crash { .. } | CompatOutcome::Hang { .. }
        )
    }
}
