//! `netbench compat`: tries each stack with a catalogue of servers.

pub(crate) mod args;
pub(crate) mod breakages;
mod cases;
pub(crate) mod chains;
mod outside;
pub(crate) mod roots;

use std::{
    collections::{BTreeSet, HashSet},
    ops::ControlFlow,
    time::Duration,
};

use netbench_compat::Case;
use netbench_model::{
    Plan, Profile, StackName,
    compat::{CompatCase, CompatManifest, CompatOutcome, CompatPlan, CompatSample},
};
use netbench_runner::{
    compat::{CompatClients, OutsideClients, try_cases, try_engines, try_outside},
    scan::client_settings,
};

use self::{
    args::{Compat, Part},
    cases::Cases,
    outside::Clients,
};
use crate::{
    client::{Unstored, millis},
    cost::{Consent, Cost, Tries},
    exit::{Ended, bail_input},
    output,
    pipeline::{self, Asked, Measured, Networks, Ready, Setup},
    progress::outcome_of,
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
    let settings = CompatSettings::of_options(options)?;
    if options.list {
        output::write(settings.list().as_bytes())?;
        return Ok(Ended::Well);
    }
    let asked = Asked {
        own: &options.own,
        consent: Consent::Given,
        output: &options.output,
    };
    pipeline::start(settings, &options.stored_in, "compat", asked)
}

/// Returns the predicted time of a run with these options.
pub(crate) fn time(options: &Compat) -> anyhow::Result<Duration> {
    Ok(match &options.part {
        Some(Part::Chains(options)) => chains::time(options),
        Some(Part::Roots(options)) => roots::time(options)?,
        Some(Part::Breakages(_)) => Duration::ZERO,
        None => CompatSettings::of_options(options)?.cost().time,
    })
}

/// The user's options, read and validated.
pub(crate) struct CompatSettings {
    cases: Vec<Case>,
    plan: CompatPlan,
    clients: Clients,
}

impl CompatSettings {
    fn of_options(options: &Compat) -> anyhow::Result<Self> {
        let cases = Cases::read(options.catalogue.as_deref())?;
        let chosen = cases.matching(&options.case)?;
        let stacks = stack_names(&options.stacks.names());
        let clients = outside::find(options, &stacks)?;
        let plan = CompatPlan {
            stacks,
            clients: clients.records(),
            cases: chosen.iter().map(|case| case.record.clone()).collect(),
            catalogue: cases.name,
            catalogue_sha256: cases.sha256,
            client_profile: options.client_profile.into(),
            limit_ms: millis(options.timeout),
        };
        Ok(Self {
            cases: chosen,
            plan,
            clients,
        })
    }

    fn of_manifest(manifest: &CompatManifest) -> anyhow::Result<Self> {
        let plan = manifest.plan.clone();
        let file = (plan.catalogue != cases::BUILT_IN_NAME).then_some(plan.catalogue.as_ref());
        let cases = Cases::read(file)?;
        if cases.sha256 != plan.catalogue_sha256 {
            bail_input!(
                "run {} cannot be continued: its catalogue ({}) has changed since",
                manifest.name,
                plan.catalogue
            );
        }
        let names: HashSet<&str> = plan.cases.iter().map(|case| case.name.as_str()).collect();
        let mut chosen = cases.all;
        chosen.retain(|case| names.contains(case.record.name.as_str()));
        Ok(Self {
            cases: chosen,
            clients: outside::find_again(&manifest.name, &plan.clients)?,
            plan,
        })
    }

    /// Returns a line for each case: its name, and the expected outcome.
    fn list(&self) -> String {
        let cases = &self.plan.cases;
        let width = cases.iter().map(|case| case.name.len()).max();
        let width = width.unwrap_or_default();
        let line = |case: &CompatCase| format!("{:width$}  {}\n", case.name, case.expected);
        cases.iter().map(line).collect()
    }

    fn tries(&self) -> Tries {
        Tries {
            cases: self.cases.len(),
            stacks: self.plan.stacks.len(),
            clients: self.clients.count(),
        }
    }
}

impl Measured for CompatSettings {
    type Plan = CompatPlan;

    const UNIT: (&'static str, &'static str) = ("try", "tries");

    fn of_run(manifest: &CompatManifest, unstored: &Unstored) -> anyhow::Result<Self> {
        unstored.refuse_certificate(&CompatPlan::KIND)?;
        Self::of_manifest(manifest)
    }

    fn workers(&self) -> BTreeSet<String> {
        let engines = self.clients.engines();
        let names = self.plan.stacks.iter().chain(&engines);
        names.map(|stack| stack.stack().to_owned()).collect()
    }

    fn networks(&self) -> Networks {
        if self.clients.outside.is_empty() {
            Networks::None
        } else {
            Networks::OfClients
        }
    }

    fn cost(&self) -> Cost {
        self.tries().cost()
    }

    fn ready<'a>(
        &'a self,
        setup: &'a Setup,
        _earlier: Option<&CompatManifest>,
    ) -> anyhow::Result<Ready<'a, CompatPlan>> {
        let (plan, workers) = (&self.plan, &setup.workers);
        let mut described = plan.clone();
        outside::describe(&mut described.clients, workers)?;
        let engines = self.clients.engines();
        Ok(Ready {
            plan: described,
            checks: Vec::new(),
            measure: Box::new(move |folder, mut appender| {
                let client = client_settings(plan.client_profile, &plan.stacks, workers);
                let earlier: Vec<CompatSample> = folder.records()?;
                let done: HashSet<(&str, &StackName)> = earlier
                    .iter()
                    .map(|sample| (sample.case.as_str(), &sample.stack))
                    .collect();
                let cost = self.cost();
                let left = cost.after(done.len() as u64).time;
                setup.progress.begin(cost.pieces, done.len() as u64, left);
                let clients = CompatClients {
                    workers,
                    client: &client,
                    limit: Duration::from_millis(plan.limit_ms),
                    stop: &setup.stop,
                };
                let wanted =
                    |stack: &StackName, case: &Case| !done.contains(&(&*case.record.name, stack));
                let mut kept = Ok(());
                let mut found = |sample: CompatSample| {
                    let is_broken = matches!(
                        sample.outcome,
                        CompatOutcome::Crash { .. } | CompatOutcome::Hang { .. }
                    );
                    kept = appender.append(&sample);
                    let told =
                        || format!("{}, {}: {}", sample.case, sample.stack, outcome_of(&sample));
                    setup.progress.sampled(told, is_broken, cost.each());
                    match &kept {
                        Ok(()) => ControlFlow::Continue(()),
                        Err(_) => ControlFlow::Break(()),
                    }
                };
                try_cases(&clients, &plan.stacks, &self.cases, wanted, &mut found)?;
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
                Ok(kept?)
            }),
        })
    }
}
