//! The steps of a run, which are the same for every kind and must happen in this order: workers are found; namespaces
//! are entered, which needs a process with a single thread; threads, workers and servers start; the folder is made or
//! opened; and after the measurement the report is made from the folder's contents.

use std::{
    collections::BTreeSet,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use anyhow::Context;
use netbench_link::{Link, Namespace};
use netbench_model::{LinkCheck, LinkRecord, Manifest, Recorded, WorkerRecord};
use netbench_runner::{Targets, Workers, environment};
use netbench_scan::raise_descriptor_limit;
use netbench_store::{Appender, RunFolder};

use crate::{
    client::Unstored,
    commands::run::args::Run,
    cost::{Consent, Cost},
    exit::{Ended, bail_input},
    interrupt,
    kinds::{self, Listed, Page},
    options::{Output, OwnWorkers, StoredIn},
    output,
    progress::Progress,
    run, stored,
    targets::{Needs, Sites},
    workers,
};

/// A run of one kind: the steps that differ between kinds.
pub(crate) trait Measured: Sized {
    /// The plan of the run, as in its manifest.
    type Plan: Listed;

    /// The name of a piece of work in the progress, in the singular and in the plural.
    const UNIT: (&'static str, &'static str);

    /// Returns a run that continues by its plan.
    ///
    /// # Errors
    /// Something that the plan refers to is not as it was, or the values that are not stored are not those of the first
    /// session.
    fn of_run(manifest: &Manifest<Self::Plan>, unstored: &Unstored) -> anyhow::Result<Self>;

    /// Returns the stacks for which workers are needed, without the servers of sites.
    fn workers(&self) -> BTreeSet<String>;

    /// Returns the sites of the run, if it has any.
    fn sites(&self) -> Option<&Sites> {
        None
    }

    /// Returns the networks that the run makes for the programs that it starts.
    fn networks(&self) -> Networks {
        Networks::None
    }

    /// Returns the requirements of the run for the link to emulated sites.
    fn needs(&self) -> Needs {
        Needs::Times
    }

    /// Returns the predicted cost of the whole run.
    fn cost(&self) -> Cost;

    /// Prepares the measurement, after workers and servers have started. `earlier` is the run that continues.
    fn ready<'a>(
        &'a self,
        setup: &'a Setup,
        earlier: Option<&Manifest<Self::Plan>>,
    ) -> anyhow::Result<Ready<'a, Self::Plan>>;
}

/// Networks that a run makes in addition to that of its sites.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Networks {
    /// No networks.
    None,
    /// A network for each client from outside.
    OfClients,
}

/// The workers, servers and other resources of a run.
pub(crate) struct Setup {
    pub(crate) workers: Workers,
    /// The sites' addresses, and the lab's servers, or `None` if the run has no sites.
    pub(crate) targets: Option<Targets>,
    /// The trust roots, including the lab's own.
    pub(crate) roots_pem: String,
    /// The namespace in which clients are started, or `None` for this process's own network.
    pub(crate) inside: Option<Namespace>,
    pub(crate) progress: Progress,
    /// A flag that becomes true with Ctrl-C.
    pub(crate) stop: Arc<AtomicBool>,
}

impl Setup {
    pub(crate) fn targets(&self) -> anyhow::Result<&Targets> {
        self.targets.as_ref().context("this run is over no sites")
    }
}

pub(crate) type Measure<'a> = Box<dyn FnOnce(&RunFolder, Appender) -> anyhow::Result<()> + 'a>;

/// A plan that is ready to be run.
pub(crate) struct Ready<'a, P> {
    pub(crate) plan: P,
    /// The checks of the link.
    pub(crate) checks: Vec<LinkCheck>,
    /// Measures, and appends the records to the folder.
    pub(crate) measure: Measure<'a>,
}

/// The options of every session.
pub(crate) struct Asked<'a> {
    pub(crate) own: &'a OwnWorkers,
    pub(crate) consent: Consent,
    pub(crate) output: &'a Output,
}

/// The run that a session belongs to.
enum Whose<'a, P> {
    /// A new run, in a folder whose name ends with the given one unless the user gives one.
    New(&'a StoredIn, &'a str),
    /// A run that earlier sessions have begun.
    Begun(RunFolder, Box<Manifest<P>>),
}

impl<P> Whose<'_, P> {
    fn manifest(&self) -> Option<&Manifest<P>> {
        match self {
            Self::New(..) => None,
            Self::Begun(_, manifest) => Some(manifest.as_ref()),
        }
    }
}

/// Makes a run. The name of its folder ends with `name` unless the user gives one.
pub(crate) fn start<M: Measured>(
    measured: M,
    stored_in: &StoredIn,
    name: &str,
    asked: Asked<'_>,
) -> anyhow::Result<Ended> {
    let page = Page::of_option(stored_in.open);
    session(measured, Whose::New(stored_in, name), asked, page)
}

/// Continues a run by the plan in its manifest.
pub(crate) fn go_on<M: Measured>(options: &Run) -> anyhow::Result<Ended> {
    let (folder, manifest) = stored::open(&options.run)
        .with_context(|| format!("cannot continue {}", options.run.display()))?;
    let measured = M::of_run(&manifest, &options.unstored)?;
    let asked = Asked {
        own: &options.own,
        consent: options.consent(),
        output: &options.output,
    };
    session(
        measured,
        Whose::Begun(folder, Box::new(manifest)),
        asked,
        options.page(),
    )
}

/// Measures into a new run, or into one that earlier sessions have begun.
fn session<M: Measured>(
    measured: M,
    whose: Whose<'_, M::Plan>,
    asked: Asked<'_>,
    page: Page,
) -> anyhow::Result<Ended> {
    if asked.output.github_summary {
        output::step_summary()?;
    }
    let stop = interrupt::stop_on_signals()?;
    let _ = raise_descriptor_limit();
    // The lock comes before any write: another process may be measuring into the run.
    let appender = match &whose {
        Whose::New(..) => None,
        Whose::Begun(folder, _) => Some(folder.appender::<<M::Plan as Recorded>::Record>()?),
    };
    workers::all_known(&measured.workers(), &asked.own.worker)?;
    workers::all_servers_known(&servers(&measured), &asked.own.worker)?;
    let done = match &whose {
        Whose::Begun(folder, run) => {
            let counted = folder.records::<<M::Plan as Recorded>::Counted>();
            let records = counted.map_err(stored::wrong)?;
            run.plan.tally(&records).taken
        }
        Whose::New(..) => 0,
    };
    let mut needed = measured.workers();
    needed.extend(servers(&measured));
    if let Some(unused) = workers::unused(&needed, &asked.own.worker)
        && !asked.output.quiet
    {
        note!("netbench: --worker {unused} is not used: no --stack and no site names it");
    }
    let cost = measured.cost().after(done);
    cost.announce(asked.consent, asked.output.quiet)?;
    let setup = set_up(
        &measured,
        whose.manifest(),
        asked.own,
        Progress::counting(asked.output, M::UNIT),
        stop,
    )?;
    let Ready {
        plan,
        checks,
        measure,
    } = measured.ready(&setup, whose.manifest())?;
    interrupt::keep();
    let (folder, mut manifest) = match whose {
        Whose::Begun(folder, manifest) => (folder, *manifest),
        Whose::New(stored_in, name) => {
            let name = run::name(stored_in, name);
            let mut manifest = run::manifest(name, plan);
            manifest.workers = records(&setup.workers);
            manifest.link = link(&setup, checks);
            if let Some(sites) = measured.sites() {
                manifest.origin = sites.origin();
            }
            let path = stored_in.out.join(&manifest.name);
            let folder =
                RunFolder::create(&path, &manifest).context("cannot make the run's folder")?;
            (folder, manifest)
        }
    };
    let appender = match appender {
        Some(appender) => appender,
        None => folder.appender::<<M::Plan as Recorded>::Record>()?,
    };
    manifest.finished = None;
    let changed = manifest.environment.changes(&environment());
    manifest.warnings.extend(changed);
    manifest.sessions.push(run::session());
    folder.write_manifest(&manifest)?;
    let place = folder.path().display();
    setup.progress.stage(&format!("results go to {place}"));

    let ran = measure(&folder, appender);
    setup.progress.end();
    let interrupted = setup.stop.load(Ordering::Relaxed);
    end_session(&mut manifest, &setup, interrupted || ran.is_err());
    // A full disk must not hide the report.
    let written = folder.write_manifest(&manifest);
    // Ends the servers and the link, so that no process runs while the user reads the report. The plan of a run of many
    // sites is freed before the report reads it again.
    drop(setup);
    drop((measured, manifest));
    let ended = kinds::publish(&folder, asked.output, page);
    ran?;
    written?;
    let ended = ended?;
    Ok(if interrupted {
        Ended::Interrupted
    } else {
        ended
    })
}

fn servers(measured: &impl Measured) -> BTreeSet<String> {
    measured.sites().map(Sites::servers).unwrap_or_default()
}

fn set_up<M: Measured>(
    measured: &M,
    earlier: Option<&Manifest<M::Plan>>,
    own: &OwnWorkers,
    progress: Progress,
    stop: Arc<AtomicBool>,
) -> anyhow::Result<Setup> {
    let mut programs = workers::find(&measured.workers(), &own.worker)?;
    programs.extend(workers::find_servers(&servers(measured), &own.worker)?);
    let sites = measured.sites();
    let open = |sites: &Sites| sites.open_link(measured.needs());
    let link = sites.map(open).transpose()?.flatten();
    if measured.networks() == Networks::OfClients {
        Namespace::allow()?;
    }
    let inside = link.as_ref().map(Link::client_namespace);
    let workers = Workers::probe(programs, inside.as_ref(), Arc::clone(&stop))?;
    if let Some(manifest) = earlier {
        same_workers(&manifest.name, &manifest.workers, &workers)?;
    }
    let (targets, roots_pem) = match sites {
        Some(sites) => {
            let (targets, roots_pem) = sites.targets(link, &workers, &progress)?;
            (Some(targets), roots_pem)
        }
        None => (None, String::new()),
    };
    Ok(Setup {
        workers,
        targets,
        roots_pem,
        inside,
        progress,
        stop,
    })
}

/// Records the facts that are known only at the end.
fn end_session<P>(manifest: &mut Manifest<P>, setup: &Setup, interrupted: bool) {
    let checks = manifest.link.take().map(|link| link.checks);
    manifest.link = link(setup, checks.unwrap_or_default());
    if let (Some(targets), Some(session)) = (&setup.targets, manifest.sessions.last_mut()) {
        match targets.served() {
            Ok(served) => session.served = served,
            Err(error) => manifest
                .warnings
                .push(format!("the lab's own counts are missing: {error}")),
        }
        for (server, bytes) in targets.server_peaks() {
            let name = format!("server_peak_bytes_{server}");
            manifest.environment.facts.insert(name, bytes.to_string());
        }
    }
    run::end_session(manifest, interrupted);
}

fn link(setup: &Setup, checks: Vec<LinkCheck>) -> Option<LinkRecord> {
    let link = setup.targets.as_ref()?.link()?;
    Some(LinkRecord {
        checks,
        ..link.record()
    })
}

fn records(workers: &Workers) -> Vec<WorkerRecord> {
    let records = workers.descriptions().map(|stack| stack.record.clone());
    records.collect()
}

/// Refuses to continue with other workers than those of the first session: samples of two different things would have the
/// same name.
fn same_workers(run: &str, workers: &[WorkerRecord], found: &Workers) -> anyhow::Result<()> {
    for now in found.descriptions().map(|description| &description.record) {
        let then = workers.iter().find(|then| then.stack == now.stack);
        if then != Some(now) {
            bail_input!(
                "run {run} cannot be continued: it was started with another worker of {} (now {})",
                now.stack,
                now.library
            );
        }
    }
    Ok(())
}
