//! `netbench compat roots`: the roots that each stack trusts by default, with the trust stores of
//! many systems.

pub(crate) mod args;

use std::{
    collections::{BTreeSet, HashSet},
    ops::ControlFlow,
    time::Duration,
};

use netbench_compat::stores::{Layout, Stores, layouts};
use netbench_model::{
    Plan, StackName,
    roots::{
        RootsClient, RootsManifest, RootsOutcome, RootsPlan, RootsSample, RootsSite, StoreLayout,
    },
};
use netbench_runner::{
    Workers,
    roots::{RootsTrial, try_layouts},
};

use self::args::Roots;
use super::cases::Wanted;
use crate::{
    client::Unstored,
    cost::{Consent, Cost, Layouts},
    exit::{Ended, bail_input},
    output,
    pipeline::{self, Asked, Measured, Ready, Setup},
    progress::outcome_of,
    stack_names::stack_names,
};

pub(super) fn roots(options: &Roots) -> anyhow::Result<Ended> {
    let settings = RootsSettings::of_options(options)?;
    if options.list {
        output::write(settings.list().as_bytes())?;
        return Ok(Ended::Well);
    }
    let asked = Asked {
        own: &options.own,
        consent: Consent::Given,
        output: &options.output,
    };
    pipeline::start(settings, &options.stored_in, "roots", asked)
}

/// Returns the predicted time of a run with these options.
pub(super) fn time(options: &Roots) -> anyhow::Result<Duration> {
    Ok(RootsSettings::of_options(options)?.cost().time)
}

pub(crate) struct RootsSettings {
    stacks: Vec<StackName>,
    layouts: Vec<Layout>,
}

impl RootsSettings {
    fn of_options(options: &Roots) -> anyhow::Result<Self> {
        let mut all = layouts();
        let names: Vec<&str> = all.iter().map(|layout| layout.name.as_str()).collect();
        let wanted = Wanted::of(
            "--layout",
            &options.layout,
            &names,
            "netbench compat roots --list",
        )?;
        all.retain(|layout| wanted.takes(&layout.name));
        Ok(Self {
            stacks: stack_names(&options.stacks.names()),
            layouts: all,
        })
    }

    fn of_manifest(manifest: &RootsManifest) -> anyhow::Result<Self> {
        let plan = &manifest.plan;
        let mut all = layouts();
        all.retain(|layout| plan.layouts.contains(&recorded(layout)));
        if all.len() != plan.layouts.len() {
            bail_input!(
                "run {} cannot be continued: the layouts have changed since",
                manifest.name
            );
        }
        Ok(Self {
            stacks: plan.stacks.clone(),
            layouts: all,
        })
    }

    /// Returns a line for each layout: its name, and the roots that a user expects to load.
    fn list(&self) -> String {
        let width = self.layouts.iter().map(|layout| layout.name.len()).max();
        let width = width.unwrap_or_default();
        let line = |layout: &Layout| match layout.trusts.as_slice() {
            [] => format!("{:width$}  nothing\n", layout.name),
            trusts => format!("{:width$}  {}\n", layout.name, trusts.join(", ")),
        };
        self.layouts.iter().map(line).collect()
    }

    fn plan(&self, workers: &Workers) -> anyhow::Result<RootsPlan> {
        let stores = Stores::new(jiff::Timestamp::now()).map_err(anyhow::Error::msg)?;
        let sites: Vec<RootsSite> = stores.sites.into_iter().map(|(site, _)| site).collect();
        Ok(RootsPlan {
            stacks: self.stacks.clone(),
            clients: self
                .stacks
                .iter()
                .flat_map(|stack| clients(stack, workers))
                .collect(),
            layouts: self.layouts.iter().map(recorded).collect(),
            sites,
        })
    }
}

fn clients(stack: &StackName, workers: &Workers) -> Vec<RootsClient> {
    let description = workers.description(stack.stack());
    let sources = description.map_or(&[][..], |told| &told.trust_sources);
    let found: Vec<_> = match sources {
        [] => vec![None],
        sources => sources.iter().cloned().map(Some).collect(),
    };
    found
        .into_iter()
        .map(|source| RootsClient {
            stack: stack.clone(),
            source,
        })
        .collect()
}

fn recorded(layout: &Layout) -> StoreLayout {
    StoreLayout {
        name: layout.name.clone(),
        about: layout.about.clone(),
        trusts: layout.trusts.clone(),
    }
}

impl Measured for RootsSettings {
    type Plan = RootsPlan;

    const UNIT: (&'static str, &'static str) = ("store", "stores");

    fn of_run(manifest: &RootsManifest, unstored: &Unstored) -> anyhow::Result<Self> {
        unstored.refuse_certificate(&RootsPlan::KIND)?;
        Self::of_manifest(manifest)
    }

    fn workers(&self) -> BTreeSet<String> {
        let names = self.stacks.iter();
        names.map(|stack| stack.stack().to_owned()).collect()
    }

    fn cost(&self) -> Cost {
        Layouts {
            layouts: self.layouts.len(),
            stacks: self.stacks.len(),
        }
        .cost()
    }

    fn ready<'a>(
        &'a self,
        setup: &'a Setup,
        _earlier: Option<&RootsManifest>,
    ) -> anyhow::Result<Ready<'a, RootsPlan>> {
        let plan = self.plan(&setup.workers)?;
        let clients = plan.clients.clone();
        Ok(Ready {
            plan,
            checks: Vec::new(),
            measure: Box::new(move |folder, mut appender| {
                let earlier: Vec<RootsSample> = folder.records()?;
                let done: HashSet<(&str, &RootsClient)> = earlier
                    .iter()
                    .map(|sample| (sample.layout.as_str(), &sample.client))
                    .collect();
                let cost = self.cost();
                let pieces = (clients.len() * self.layouts.len()) as u64;
                let left = cost.after(done.len() as u64).time;
                setup.progress.begin(pieces, done.len() as u64, left);
                let trial = RootsTrial {
                    workers: &setup.workers,
                    stop: &setup.stop,
                };
                let wanted = |client: &RootsClient, layout: &Layout| {
                    !done.contains(&(layout.name.as_str(), client))
                };
                let mut kept = Ok(());
                try_layouts(&trial, &clients, &self.layouts, wanted, |sample| {
                    let is_broken = matches!(sample.outcome, RootsOutcome::Broken { .. });
                    kept = appender.append(&sample);
                    let told = || {
                        format!(
                            "{}, {}: {}",
                            sample.layout,
                            sample.client,
                            outcome_of(&sample)
                        )
                    };
                    setup.progress.sampled(told, is_broken, cost.each());
                    match &kept {
                        Ok(()) => ControlFlow::Continue(()),
                        Err(_) => ControlFlow::Break(()),
                    }
                })?;
                Ok(kept?)
            }),
        })
    }
}
