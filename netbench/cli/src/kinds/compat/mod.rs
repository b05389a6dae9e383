//! `netbench compat`: tries each stack with a catalogue of servers.

mod outside;

use std::{
    collections::{BTreeSet, HashSet},
    path::{Path, PathBuf},
    time::Duration,
};

use clap::{Args, Subcommand, ValueHint};
use netbench_browser::OutsideProgram;
use netbench_compat::{BUILT_IN as CATALOGUE, Case, catalogue};
use netbench_model::{
    Profile, StackName,
    compat::{CompatManifest, CompatOutcome, CompatPlan, CompatSample},
};
use netbench_report::{BreakagesReport, CompatSummary, summarize_compat};
use netbench_runner::{
    compat::{CompatClients, OutsideClients, Way, try_cases, try_outside},
    scan::client_settings,
};
use netbench_store::RunFolder;

pub(crate) use self::outside::Client;
use self::outside::{engine, engines};
use super::{
    chains::{self, Chains, EXAMPLES as CHAINS},
    roots::{self, EXAMPLES as ROOTS, Roots},
    wanted::{keep, list},
};
use crate::{
    browsers::Found,
    client::{Unstored, millis},
    cost::times,
    exit::{Ended, WrongInput, cannot_continue},
    options::{Asked, Output, OwnWorkers, ProfileArg, StackOptions, StoredIn, between, sandbox},
    output::print,
    pipeline::{self, Listed, Measured, Session, Setup, Told},
    run,
    sites_file::sha256,
    stack_names::{clients, stack_names},
    stored,
    user_file::{BUILT_IN, read_or},
};

pub(crate) const EXAMPLES: &str = "\
Examples:
  netbench compat                             openssl and rustls-aws-lc
  netbench compat --stack openssl,rustls-ring,go
  netbench compat --case 'certificate/*'      some of the cases
  netbench compat --client chromium,firefox,curl
  netbench compat --client servo-net          what Servo's error pages are told
  netbench compat --list                      the cases, and what is expected
  netbench compat --catalogue mine.toml       servers of your own
  netbench compat --format csv > compat.csv
  netbench compat chains                      10,000 certificate chains, without servers
  netbench compat --json | jq '.differences[] | {case, stack, does}'

Every server is on this machine's loopback; nothing leaves it. Browsers and
programs are each in a network namespace with nothing else in it. The built-in
catalogue is in netbench/catalogue/compat/: a case of your own has the same form.";

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Compat {
    #[command(subcommand)]
    pub(crate) part: Option<Part>,
    #[command(flatten)]
    pub(crate) stacks: StackOptions,
    /// Browsers and programs to try beside the stacks: chromium, firefox, webkitgtk, curl, wget, python, node; and
    /// servo, as an application that embeds it loads pages
    #[arg(long, value_name = "C,…", value_delimiter = ',')]
    pub(crate) client: Vec<Client>,
    /// Try only the cases whose names match; * and ? as in a shell
    #[arg(long, value_name = "GLOB")]
    pub(crate) case: Vec<String>,
    /// Read the cases from FILE instead of taking the built-in ones
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) catalogue: Option<PathBuf>,
    /// List the cases with what is expected, and exit
    #[arg(long)]
    pub(crate) list: bool,

    /// How to set up the connectors
    #[arg(long, value_name = "P", value_enum, default_value_t = ProfileArg::Library, help_heading = "How")]
    pub(crate) client_profile: ProfileArg,
    /// Time a stack has for a server; a second try gets three times as much
    #[arg(long, value_name = "TIME", default_value = "2s", value_parser = between(Duration::from_millis(100), Duration::from_secs(60)), help_heading = "How")]
    pub(crate) timeout: Duration,
    /// Run the browsers without their sandbox; the report says so
    #[arg(long, requires = "client", help_heading = "How")]
    pub(crate) no_sandbox: bool,
    #[command(flatten, next_help_heading = "How")]
    pub(crate) own: OwnWorkers,

    #[command(flatten)]
    pub(crate) stored_in: StoredIn,
    #[command(flatten)]
    pub(crate) output: Output,
}

const BREAKAGES: &str = "\
Examples:
  netbench compat breakages                   the threads, and what predicts each
  netbench compat breakages --format markdown > docs/BREAKAGES.md
  netbench compat breakages --json | jq -r '.breakages[] | select(.predicted) | .predicted.case'

It tries nothing: the cases are tried by the commands that it names.";

#[derive(Debug, Subcommand)]
pub(crate) enum Part {
    /// Find out which certificate chains each stack's verifier refuses, and whether it should
    #[command(after_help = CHAINS)]
    Chains(Box<Chains>),
    /// Find out what each stack trusts by itself, with the trust stores of many systems
    #[command(after_help = ROOTS)]
    Roots(Box<Roots>),
    /// List what broke for others who changed their TLS stack, and what predicts each
    #[command(after_help = BREAKAGES)]
    Breakages(Output),
}

pub(crate) fn compat(options: &Compat) -> anyhow::Result<Ended> {
    match &options.part {
        Some(Part::Chains(options)) => chains::chains(options),
        Some(Part::Roots(options)) => roots::roots(options),
        Some(Part::Breakages(output)) => breakages(output),
        None => servers(options),
    }
}

fn breakages(output: &Output) -> anyhow::Result<Ended> {
    print(&BreakagesReport::new(netbench_compat::breakages()), output)?;
    Ok(Ended::Well)
}

fn servers(options: &Compat) -> anyhow::Result<Ended> {
    let plan = plan(options)?;
    if options.list {
        let cases = plan.cases.iter();
        return list(cases.map(|case| (case.name.as_str(), case.expected.to_string())));
    }
    let asked = Asked::short(&options.own.worker, &options.output);
    pipeline::start::<CompatRun>(run::manifest(plan), &options.stored_in, "compat", asked)
}

/// Returns the plan of the options, without the descriptions of engines, which only workers know.
pub(crate) fn plan(options: &Compat) -> anyhow::Result<CompatPlan> {
    let mut cases = Cases::read(options.catalogue.as_deref())?;
    let asked = ("netbench compat", "--case", &*options.case);
    keep(&mut cases.all, |case| &case.record.name, asked)?;
    let stacks = stack_names(&options.stacks.names());
    Ok(CompatPlan {
        clients: outside::find(&options.client, sandbox(options.no_sandbox), &stacks)?,
        stacks,
        cases: cases.all.into_iter().map(|case| case.record).collect(),
        catalogue: cases.name,
        catalogue_sha256: cases.sha256,
        client_profile: options.client_profile.into(),
        limit_ms: millis(options.timeout),
    })
}

/// The largest size of a catalogue, in bytes.
const LONGEST_CATALOGUE: u64 = 16 << 20;

/// A catalogue, read and parsed.
struct Cases {
    name: String,
    sha256: String,
    all: Vec<Case>,
}

impl Cases {
    /// Reads the cases of a file, or the built-in cases if there is no file.
    fn read(file: Option<&Path>) -> anyhow::Result<Self> {
        let (name, text) = read_or(CATALOGUE, file, LONGEST_CATALOGUE)?;
        let all = catalogue(&text).map_err(|error| WrongInput(format!("{name}: {error}")))?;
        Ok(Self {
            sha256: sha256(text.as_bytes()),
            all,
            name,
        })
    }
}

/// The time of an attempt on one core: certificates, a worker's connector and a handshake. Four stacks take 8 s for 90
/// cases.
const STACK: Duration = Duration::from_millis(40);

/// The time of an attempt of a client from outside: a page of a running browser, or a process.
const OUTSIDE: Duration = Duration::from_millis(150);

impl Listed for CompatPlan {
    const UNIT: (&'static str, &'static str) = ("attempt", "attempts");
    const SHORTER: &'static str = "--case or fewer stacks";

    fn stacks(&self) -> &[StackName] {
        &self.stacks
    }

    fn cases(&self) -> u64 {
        self.cases.len() as u64
    }

    fn time(&self) -> Duration {
        let cases = self.cases.len() as f64;
        let stacks = times(STACK, cases * self.stacks.len() as f64);
        stacks + times(OUTSIDE, cases * self.clients.len() as f64)
    }

    fn workers(&self) -> BTreeSet<String> {
        let mut workers = clients(&self.stacks);
        workers.extend(clients(&engines(self)));
        workers
    }
}

/// The cases and the clients of a plan.
pub(crate) struct CompatRun {
    cases: Vec<Case>,
    /// Browsers and other programs.
    outside: Vec<Found<OutsideProgram>>,
}

impl Measured for CompatRun {
    type Plan = CompatPlan;
    type Report = CompatSummary;

    fn read(folder: &RunFolder) -> anyhow::Result<CompatSummary> {
        let (manifest, samples) = stored::contents(folder)?;
        Ok(summarize_compat(&manifest, samples))
    }

    fn open(run: &CompatManifest, _: &Unstored) -> anyhow::Result<Self> {
        let plan = &run.plan;
        let file = (plan.catalogue != BUILT_IN).then_some(plan.catalogue.as_ref());
        let cases = Cases::read(file)?;
        if cases.sha256 != plan.catalogue_sha256 {
            let why = format!("its catalogue ({}) has changed since", plan.catalogue);
            return Err(cannot_continue(&run.name, why));
        }
        let names: HashSet<&str> = plan.cases.iter().map(|case| case.name.as_str()).collect();
        let mut chosen = cases.all;
        chosen.retain(|case| names.contains(case.record.name.as_str()));
        Ok(Self {
            cases: chosen,
            outside: outside::find_again(&run.name, &plan.clients)?,
        })
    }

    fn isolates_clients(&self) -> bool {
        !self.outside.is_empty()
    }

    fn ready(&mut self, setup: &Setup, run: &mut CompatManifest) -> anyhow::Result<()> {
        outside::describe(&mut run.plan.clients, &setup.workers)
    }

    fn measure(self, session: Session<'_, CompatPlan>) -> anyhow::Result<()> {
        let (plan, setup) = (&session.run.plan, session.setup);
        let workers = &setup.workers;
        let earlier = session.earlier()?;
        let (done, mut keeper) = session.resume(&earlier);
        let client = client_settings(plan.client_profile, &plan.stacks, workers);
        let clients = CompatClients {
            workers,
            client: &client,
            way: Way::Connect,
            limit: Duration::from_millis(plan.limit_ms),
            stop: &setup.stop,
        };
        try_cases(
            &clients,
            &plan.stacks,
            &self.cases,
            |stack, case| is_left(&done, stack, case),
            |sample| keeper.keep(&sample),
        )?;
        let (engine, engines) = (engine(), engines(plan));
        let own = client_settings(Profile::Library, &engines, workers);
        let embedded = CompatClients {
            client: &own,
            way: Way::Load,
            ..clients
        };
        try_cases(
            &embedded,
            &engines,
            &self.cases,
            |_, case| is_left(&done, &engine, case),
            |sample| {
                keeper.keep(&CompatSample {
                    stack: engine.clone(),
                    ..sample
                })
            },
        )?;
        // The outside clients run last: stacks have shorter time limits, and browsers need
        // both cores.
        let outside = OutsideClients {
            clients: &self.outside,
            limit: clients.limit,
            stop: clients.stop,
        };
        try_outside(
            &outside,
            &self.cases,
            |client, case| is_left(&done, client, case),
            |sample| keeper.keep(&sample),
        )?;
        Ok(keeper.end()?)
    }
}

fn is_left(done: &HashSet<(&str, &StackName)>, client: &StackName, case: &Case) -> bool {
    !done.contains(&(&*case.record.name, client))
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
