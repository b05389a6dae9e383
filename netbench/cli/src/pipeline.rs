//! The steps of a run, which are the same for every kind and must happen in this order: workers are found; namespaces
//! are entered, which needs a process with a single thread; threads, workers and servers start; the folder is made or
//! opened; and after the measurement the report is made from the folder's contents.

use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    ops::ControlFlow,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use anyhow::Context;
use netbench_link::{Link, Namespace};
use netbench_model::{
    LinkCheck, LinkRecord, Manifest, Plan, Record, Recorded, StackName, WorkerRecord,
};
use netbench_report::Report;
use netbench_runner::{Targets, Workers, environment};
use netbench_scan::raise_descriptor_limit;
use netbench_store::{Appender, RunFolder, StoreError};

use crate::{
    client::Unstored,
    compare::Compare,
    cost::{Cost, Piece},
    exit::{Ended, cannot_continue},
    interrupt,
    options::{Asked, Merge, Page, StoredIn},
    output,
    progress::{Progress, outcome_of},
    run,
    stack_names::clients,
    stored,
    targets::{Needs, Sites},
    workers::{self, Source},
};

/// A plan of one kind: the facts that lists of runs, estimates and the pipeline need.
pub(crate) trait Listed: Recorded {
    /// The name of a piece of work, in the singular and in the plural.
    const UNIT: (&'static str, &'static str);

    /// The options that make a run shorter.
    const SHORTER: &'static str;

    /// Returns the stacks of the plan's samples.
    fn stacks(&self) -> &[StackName];

    /// Returns the number of sites or scenarios.
    fn cases(&self) -> u64;

    /// Predicts the time of the whole run.
    fn time(&self) -> Duration;

    /// Returns the number of pieces of work, as far as it is known before the run.
    fn pieces(&self) -> u64 {
        self.planned()
    }

    /// Predicts the cost of the whole run.
    fn cost(&self) -> Cost {
        Cost {
            time: self.time(),
            pieces: self.pieces(),
            unit: Self::UNIT,
            shorter: Self::SHORTER,
        }
    }

    /// Returns the stacks for which workers are needed, without the servers of sites.
    fn workers(&self) -> BTreeSet<String> {
        clients(self.stacks())
    }
}

/// A kind of run: the steps that differ between kinds. A value has everything that the plan refers to.
pub(crate) trait Measured: Sized {
    /// The plan of the run, as in its manifest.
    type Plan: Listed;

    type Report: Report + 'static;

    /// Merges runs into one, if the kind supports it.
    const MERGE: Option<MergeRuns> = None;

    /// Compares runs, if the kind supports it.
    const COMPARE: Option<CompareRuns> = None;

    /// The names of files in the run's folder besides manifest, records and reports.
    const FILES: &'static [&'static str] = &[];

    /// Reads a run with everything that its report needs.
    fn read(folder: &RunFolder) -> anyhow::Result<Self::Report>;

    /// Refuses values that are not stored and that this kind of run does not use.
    fn accept(unstored: &Unstored) -> anyhow::Result<()> {
        Ok(unstored.refuse_certificate(&Self::Plan::KIND)?)
    }

    /// Reads everything that the plan of a run refers to.
    ///
    /// # Errors
    /// Something is not as it was when the plan was made, or the values that are not stored are not those of the plan.
    fn open(run: &Manifest<Self::Plan>, unstored: &Unstored) -> anyhow::Result<Self>;

    /// Returns the sites of the run, if it has any.
    fn sites(&self) -> Option<&Sites> {
        None
    }

    /// Returns whether the run starts clients in networks of their own.
    fn isolates_clients(&self) -> bool {
        false
    }

    /// Prepares the measurement, after workers and servers have started. In the first session, adds to the plan the
    /// facts that only workers know.
    fn ready(&mut self, _setup: &Setup, _run: &mut Manifest<Self::Plan>) -> anyhow::Result<()> {
        Ok(())
    }

    /// Measures by the plan of a run, and appends the records to its folder.
    fn measure(self, session: Session<'_, Self::Plan>) -> anyhow::Result<()>;
}

pub(crate) type MergeRuns = fn(&Merge) -> anyhow::Result<RunFolder>;

/// Compares runs, or the chosen stacks of them.
pub(crate) type CompareRuns =
    fn(&Compare, Option<(&StackName, &StackName)>) -> anyhow::Result<Ended>;

/// A session of a run that is about to be measured.
pub(crate) struct Session<'a, P> {
    pub(crate) run: &'a Manifest<P>,
    pub(crate) folder: &'a RunFolder,
    pub(crate) appender: Appender,
    pub(crate) setup: &'a Setup,
}

impl<'a, P: Listed> Session<'a, P> {
    /// Returns the records of earlier sessions.
    pub(crate) fn earlier(&self) -> Result<Vec<P::Counted>, StoreError> {
        self.folder.records()
    }

    /// Begins the progress of the work that is left. Returns the keys of the work that is done.
    pub(crate) fn resume<'r>(self, earlier: &'r [P::Counted]) -> (HashSet<P::Key<'r>>, Keeper<'a>) {
        let done = self.run.plan.done(earlier);
        let keeper = self.keeper(done.len() as u64);
        (done, keeper)
    }

    /// Begins the progress of a run that has `earlier` records.
    pub(crate) fn keeper(self, earlier: u64) -> Keeper<'a> {
        let (cost, progress) = (self.run.plan.cost(), &self.setup.progress);
        progress.begin(cost.pieces, earlier, cost.after(earlier).time);
        Keeper {
            appender: self.appender,
            progress,
            each: cost.each(),
            kept: Ok(()),
        }
    }

    /// Returns the number of this session, which the manifest has already.
    pub(crate) fn number(&self) -> u32 {
        u32::try_from(self.run.sessions.len().saturating_sub(1)).unwrap_or(u32::MAX)
    }
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

/// The folder of a run.
enum Place<'a> {
    /// A new folder, whose name ends with the given one unless the user gives one.
    New(&'a StoredIn, &'a str),
    /// The folder of a run that was created or begun earlier.
    Existing(RunFolder),
}

/// Makes a run. The name of its folder ends with `name` unless the user gives one.
pub(crate) fn start<M: Measured>(
    manifest: Manifest<M::Plan>,
    stored_in: &StoredIn,
    name: &str,
    asked: Asked<'_>,
) -> anyhow::Result<Ended> {
    let page = Page::of_option(stored_in.open);
    session::<M>(manifest, Place::New(stored_in, name), asked, page)
}

/// Begins or continues the run in a folder, by the plan in its manifest.
pub(crate) fn go_on<M: Measured>(
    path: &Path,
    asked: Asked<'_>,
    page: Page,
) -> anyhow::Result<Ended> {
    let (folder, manifest) =
        stored::open(path).with_context(|| format!("cannot continue {}", path.display()))?;
    session::<M>(manifest, Place::Existing(folder), asked, page)
}

/// Creates the folder of a run, which [`go_on`] begins.
pub(crate) fn create<P: Plan>(
    mut manifest: Manifest<P>,
    stored_in: &StoredIn,
    name: &str,
) -> anyhow::Result<(RunFolder, Manifest<P>)> {
    manifest.name = run::name(stored_in, name);
    manifest.started = run::now();
    let path = stored_in.out.join(&manifest.name);
    let folder = RunFolder::create(&path, &manifest).context("cannot make the run's folder")?;
    Ok((folder, manifest))
}

/// Measures into a new run, or into an existing one.
fn session<M: Measured>(
    mut manifest: Manifest<M::Plan>,
    place: Place<'_>,
    asked: Asked<'_>,
    page: Page,
) -> anyhow::Result<Ended> {
    M::accept(&asked.unstored)?;
    let mut measured = M::open(&manifest, &asked.unstored)?;
    if asked.output.github_summary {
        output::step_summary()?;
    }
    let stop = interrupt::stop_on_signals()?;
    let _ = raise_descriptor_limit();
    // The lock comes before any write: another process may be measuring into the run.
    let (appender, done) = match &place {
        Place::New(..) => (None, 0),
        Place::Existing(folder) => {
            let appender = folder.appender::<<M::Plan as Recorded>::Record>()?;
            let records = folder.records().map_err(stored::wrong)?;
            (Some(appender), manifest.plan.tally(&records).taken)
        }
    };
    let own = asked.own;
    let servers = measured.sites().map(Sites::servers).unwrap_or_default();
    let needed = workers::needed(&manifest.plan.workers(), &servers, own)?;
    if let Some(unused) = workers::unused(&needed, own)
        && !asked.output.quiet
    {
        note!("netbench: --worker {unused} is not used: no --stack and no site names it");
    }
    let cost = manifest.plan.cost().after(done);
    cost.announce(asked.consent, asked.output.quiet)?;
    let progress = Progress::counting(asked.output, cost.unit);
    let setup = set_up(&measured, &manifest, needed, progress, stop)?;
    measured.ready(&setup, &mut manifest)?;
    if !manifest.has_begun() {
        let checks = check(&measured, &setup)?;
        manifest.link = link(&setup, checks);
        let workers = setup.workers.descriptions();
        manifest.workers = workers.map(|stack| stack.record.clone()).collect();
    }
    interrupt::keep();
    let folder = match place {
        Place::Existing(folder) => folder,
        Place::New(stored_in, name) => {
            let created = create(manifest, stored_in, name)?;
            manifest = created.1;
            created.0
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

    let ran = measured.measure(Session {
        run: &manifest,
        folder: &folder,
        appender,
        setup: &setup,
    });
    setup.progress.end();
    let interrupted = setup.stop.load(Ordering::Relaxed);
    end_session(&mut manifest, &setup, interrupted || ran.is_err());
    // A full disk must not hide the report.
    let written = folder.write_manifest(&manifest);
    // Ends the servers and the link, so that no process runs while the user reads the report. The plan of a run of many
    // sites is freed before the report reads it again.
    drop(setup);
    drop(manifest);
    let ended =
        M::read(&folder).and_then(|report| output::publish(&report, &folder, asked.output, page));
    ran?;
    written?;
    let ended = ended?;
    Ok(if interrupted {
        Ended::Interrupted
    } else {
        ended
    })
}

/// The records that a session appends to a run, each with its line in the progress.
pub(crate) struct Keeper<'a> {
    appender: Appender,
    progress: &'a Progress,
    /// The predicted time of a piece of work.
    each: Duration,
    kept: Result<(), StoreError>,
}

impl Keeper<'_> {
    pub(crate) fn append(&mut self, record: &impl Told) -> Result<(), StoreError> {
        self.appender.append(record)?;
        self.progress.ended(
            || format!("{}: {}", record.piece(), outcome_of(record)),
            record.failed(),
            Piece::Done(self.each),
        );
        Ok(())
    }

    /// Appends a record. Breaks if it cannot be stored, which [`Self::end`] reports.
    pub(crate) fn keep(&mut self, record: &impl Told) -> ControlFlow<()> {
        self.kept = self.append(record);
        match &self.kept {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        }
    }

    /// Returns the error that ended the session, if there was one.
    pub(crate) fn end(self) -> Result<(), StoreError> {
        self.kept
    }
}

/// A record that has a line in the progress.
pub(crate) trait Told: Record {
    /// Names the piece of work.
    fn piece(&self) -> String;

    /// Returns whether the piece of work failed.
    fn failed(&self) -> bool;
}

/// Compares the link with the profiles of the sites, if times depend on it.
fn check(measured: &impl Measured, setup: &Setup) -> anyhow::Result<Vec<LinkCheck>> {
    let link = setup.targets.as_ref().and_then(Targets::link);
    Ok(match (link, measured.sites()) {
        (Some(link), Some(sites)) if sites.needs == Needs::Times => {
            link.check(sites.seed, &setup.stop)?
        }
        _ => Vec::new(),
    })
}

fn set_up<M: Measured>(
    measured: &M,
    run: &Manifest<M::Plan>,
    needed: BTreeMap<String, Source>,
    progress: Progress,
    stop: Arc<AtomicBool>,
) -> anyhow::Result<Setup> {
    let programs = workers::find(needed)?;
    let sites = measured.sites();
    let link = match sites {
        Some(sites) => sites.open_link()?,
        None => None,
    };
    if measured.isolates_clients() {
        Namespace::allow()?;
    }
    let inside = link.as_ref().map(Link::client_namespace);
    let workers = Workers::probe(programs, inside.as_ref(), Arc::clone(&stop))?;
    if run.has_begun() {
        same_workers(&run.name, &run.workers, &workers)?;
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
    let lab = setup.targets.as_ref().and_then(Targets::as_lab);
    if let (Some(lab), Some(session)) = (lab, manifest.sessions.last_mut()) {
        match lab.served() {
            Ok(served) => session.served = served,
            Err(error) => manifest
                .warnings
                .push(format!("the lab's own counts are missing: {error}")),
        }
        for (server, bytes) in lab.peaks() {
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

/// Refuses to continue with other workers than those of the first session: samples of two different workers would have
/// the same name.
fn same_workers(run: &str, workers: &[WorkerRecord], found: &Workers) -> anyhow::Result<()> {
    for now in found.descriptions().map(|description| &description.record) {
        let then = workers.iter().find(|then| then.stack == now.stack);
        if then != Some(now) {
            let (stack, library) = (&now.stack, &now.library);
            let why = format!("it was started with another worker of {stack} (now {library})");
            return Err(cannot_continue(run, why));
        }
    }
    Ok(())
}
