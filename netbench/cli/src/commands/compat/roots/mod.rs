//! `netbench compat roots`: the roots that each stack trusts by default, with the trust stores of
//! many systems.

pub(crate) mod args;

use netbench_compat::stores::{Layout, Stores, layouts};
use netbench_model::{
    Plan, Recorded, StackName,
    roots::{RootsClient, RootsManifest, RootsOutcome, RootsPlan, RootsSample, StoreLayout},
};
use netbench_runner::{
    Workers,
    roots::{RootsTrial, try_layouts},
};

use self::args::Roots;
use super::cases::Wanted;
use crate::{
    client::Unstored,
    exit::{Ended, bail_input},
    output,
    pipeline::{self, Asked, Keeper, Measure, Measured, Setup, Told},
    stack_names::stack_names,
};

pub(super) fn roots(options: &Roots) -> anyhow::Result<Ended> {
    if options.list {
        output::write(list(&chosen(options)?).as_bytes())?;
        return Ok(Ended::Well);
    }
    let asked = Asked::short(&options.own, &options.output);
    pipeline::start::<RootsRun>(plan(options)?, &options.stored_in, "roots", asked)
}

/// Returns the plan of the options, without the clients, which only workers know.
pub(crate) fn plan(options: &Roots) -> anyhow::Result<RootsPlan> {
    let made = Stores::new(jiff::Timestamp::now()).map_err(anyhow::Error::msg)?;
    Ok(RootsPlan {
        stacks: stack_names(&options.stacks.names()),
        clients: Vec::new(),
        layouts: chosen(options)?.iter().map(recorded).collect(),
        sites: made.sites.into_iter().map(|(site, _)| site).collect(),
    })
}

fn chosen(options: &Roots) -> anyhow::Result<Vec<Layout>> {
    let mut all = layouts();
    let names: Vec<&str> = all.iter().map(|layout| layout.name.as_str()).collect();
    let wanted = Wanted::of(
        "--layout",
        &options.layout,
        &names,
        "netbench compat roots --list",
    )?;
    all.retain(|layout| wanted.takes(&layout.name));
    Ok(all)
}

/// Returns a line for each layout: its name, and the roots that a user expects to load.
fn list(layouts: &[Layout]) -> String {
    let width = layouts.iter().map(|layout| layout.name.len()).max();
    let width = width.unwrap_or_default();
    let line = |layout: &Layout| match layout.trusts.as_slice() {
        [] => format!("{:width$}  nothing\n", layout.name),
        trusts => format!("{:width$}  {}\n", layout.name, trusts.join(", ")),
    };
    layouts.iter().map(line).collect()
}

/// The layouts of a plan.
pub(crate) struct RootsRun(Vec<Layout>);

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

impl Measured for RootsRun {
    type Plan = RootsPlan;

    const UNIT: (&'static str, &'static str) = ("store", "stores");

    fn open(run: &RootsManifest, unstored: &Unstored) -> anyhow::Result<Self> {
        unstored.refuse_certificate(&RootsPlan::KIND)?;
        let mut all = layouts();
        all.retain(|layout| run.plan.layouts.contains(&recorded(layout)));
        if all.len() != run.plan.layouts.len() {
            bail_input!(
                "run {} cannot be continued: the layouts have changed since",
                run.name
            );
        }
        Ok(Self(all))
    }

    fn ready<'a>(
        &'a self,
        setup: &'a Setup,
        run: &mut RootsManifest,
    ) -> anyhow::Result<Measure<'a, RootsPlan>> {
        if !run.has_begun() {
            let stacks = run.plan.stacks.iter();
            let clients = stacks.flat_map(|stack| clients(stack, &setup.workers));
            run.plan.clients = clients.collect();
        }
        Ok(Box::new(move |run, folder, appender| {
            let plan = &run.plan;
            let earlier: Vec<RootsSample> = folder.records()?;
            let done = plan.done(&earlier);
            let mut keeper = Keeper::begin(plan, done.len() as u64, appender, &setup.progress);
            let trial = RootsTrial {
                workers: &setup.workers,
                stop: &setup.stop,
            };
            let wanted = |client: &RootsClient, layout: &Layout| {
                !done.contains(&(layout.name.as_str(), client))
            };
            try_layouts(&trial, &plan.clients, &self.0, wanted, |sample| {
                keeper.keep(&sample)
            })?;
            Ok(keeper.end()?)
        }))
    }
}

impl Told for RootsSample {
    fn piece(&self) -> String {
        format!("{}, {}", self.layout, self.client)
    }

    fn failed(&self) -> bool {
        matches!(self.outcome, RootsOutcome::Broken { .. })
    }
}
