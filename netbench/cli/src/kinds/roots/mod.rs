//! `netbench compat roots`: the roots that each stack trusts by default, with the trust stores of
//! many systems.

use std::time::Duration;

use clap::Args;
use netbench_compat::stores::{Layout, Stores, layouts};
use netbench_model::{
    StackName,
    roots::{RootsClient, RootsManifest, RootsOutcome, RootsPlan, RootsSample, StoreLayout},
};
use netbench_report::{RootsSummary, summarize_roots};
use netbench_runner::{Workers, roots::try_layouts};
use netbench_store::RunFolder;

use super::wanted::{keep, list};
use crate::{
    client::Unstored,
    cost::times,
    exit::{Ended, cannot_continue},
    options::{Asked, Output, OwnWorkers, StackOptions, StoredIn},
    pipeline::{self, Listed, Measured, Session, Setup, Told},
    run,
    stack_names::stack_names,
    stored,
};

pub(crate) const EXAMPLES: &str = "\
Examples:
  netbench compat roots                       openssl and rustls-aws-lc
  netbench compat roots --stack openssl,openssl-system,rustls-ring,go
  netbench compat roots --layout 'corporate-*'
  netbench compat roots --list                the layouts, and what a user expects
  netbench compat roots --json | jq '.wrong[] | {stack, layouts, seen}'

Only the stack's process sees a layout, in a private mount namespace; this system
does not change. Without root, this needs user namespaces.";

#[derive(Debug, Args)]
pub(crate) struct Roots {
    #[command(flatten)]
    pub(crate) stacks: StackOptions,
    /// Try only the layouts whose names match; * and ? as in a shell
    #[arg(long, value_name = "GLOB")]
    pub(crate) layout: Vec<String>,
    /// List the layouts with what a user of such a system expects to load, and exit
    #[arg(long)]
    pub(crate) list: bool,

    #[command(flatten, next_help_heading = "How")]
    pub(crate) own: OwnWorkers,

    #[command(flatten)]
    pub(crate) stored_in: StoredIn,
    #[command(flatten)]
    pub(crate) output: Output,
}

/// The time of a layout with all sources of one stack: a process for each source, which reads its
/// store.
const LAYOUT: Duration = Duration::from_millis(250);

pub(super) fn roots(options: &Roots) -> anyhow::Result<Ended> {
    if options.list {
        let layouts = chosen(options)?;
        let layouts = layouts.iter().map(|layout| {
            let trusts = match layout.trusts.as_slice() {
                [] => "nothing".to_owned(),
                trusts => trusts.join(", "),
            };
            (layout.name.as_str(), trusts)
        });
        return list(layouts);
    }
    let asked = Asked::short(&options.own.worker, &options.output);
    let manifest = run::manifest(plan(options)?);
    pipeline::start::<RootsRun>(manifest, &options.stored_in, "roots", asked)
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
    let asked = ("netbench compat roots", "--layout", &*options.layout);
    keep(&mut all, |layout| &layout.name, asked)?;
    Ok(all)
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

impl Listed for RootsPlan {
    const UNIT: (&'static str, &'static str) = ("store", "stores");
    const SHORTER: &'static str = "--layout or fewer stacks";

    fn stacks(&self) -> &[StackName] {
        &self.stacks
    }

    fn cases(&self) -> u64 {
        self.layouts.len() as u64
    }

    fn time(&self) -> Duration {
        times(LAYOUT, (self.layouts.len() * self.stacks.len()) as f64)
    }

    fn pieces(&self) -> u64 {
        // Only workers know the sources of their stacks.
        (self.layouts.len() * self.clients.len().max(self.stacks.len())) as u64
    }
}

impl Measured for RootsRun {
    type Plan = RootsPlan;
    type Report = RootsSummary;

    fn read(folder: &RunFolder) -> anyhow::Result<RootsSummary> {
        let (manifest, samples) = stored::contents(folder)?;
        Ok(summarize_roots(&manifest, samples))
    }

    fn open(run: &RootsManifest, _: &Unstored) -> anyhow::Result<Self> {
        let mut all = layouts();
        all.retain(|layout| run.plan.layouts.contains(&recorded(layout)));
        if all.len() != run.plan.layouts.len() {
            return Err(cannot_continue(&run.name, "the layouts have changed since"));
        }
        Ok(Self(all))
    }

    fn ready(&mut self, setup: &Setup, run: &mut RootsManifest) -> anyhow::Result<()> {
        if !run.has_begun() {
            let stacks = run.plan.stacks.iter();
            let clients = stacks.flat_map(|stack| clients(stack, &setup.workers));
            run.plan.clients = clients.collect();
        }
        Ok(())
    }

    fn measure(self, session: Session<'_, RootsPlan>) -> anyhow::Result<()> {
        let (plan, setup) = (&session.run.plan, session.setup);
        let earlier = session.earlier()?;
        let (done, mut keeper) = session.resume(&earlier);
        try_layouts(
            &setup.workers,
            &setup.stop,
            &plan.clients,
            &self.0,
            |client, layout| !done.contains(&(layout.name.as_str(), client)),
            |sample| keeper.keep(&sample),
        )?;
        Ok(keeper.end()?)
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
