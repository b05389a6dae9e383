//! `netbench evaluate`: runs its parts in batches (`batch`), each a command of netbench in a separate process, and makes
//! one report of their results.

mod answers;
pub(crate) mod args;
mod batch;
mod compare;
mod parts;
mod progress;
mod step;

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use anyhow::{Context, bail};
use netbench_browser::Product;
use netbench_link::LinkChoice;
use netbench_model::{
    ConnectionSettings, Depth, EvaluationManifest, EvaluationPlan, Manifest, PartRecord, PartState,
    Plan, RootsSource, StackName, Target,
};
use netbench_report::RunRow;
use netbench_runner::Workers;
use netbench_store::{RunFolder, StoreError};

pub(crate) use self::parts::PARTS;
use self::{
    answers::Answers,
    args::Evaluate,
    parts::{BROWSERS, Needs, Part, Step},
};
use super::kind::{Holds, KindOfRun};
use crate::{
    client::{self, Unstored, millis},
    cost::{Consent, Cost},
    exit::{Ended, bail_input},
    interrupt,
    options::{Asked, Output, Page},
    output, pipeline, run,
    sites_file::HTTPS,
    stack_names::new_seed,
    stored, targets, workers,
};

pub(super) const KIND: KindOfRun = KindOfRun {
    kind: EvaluationPlan::KIND,
    read: |folder| Ok(Box::new(parts::read(folder)?)),
    list,
    run: go_on,
    merge: None,
    compare: Some(compare::compare),
    holds: Holds::Runs,
};

pub(crate) fn evaluate(options: &Evaluate) -> anyhow::Result<Ended> {
    let stop = interrupt::stop_on_signals()?;
    let (folder, manifest) = begin(options)?;
    let page = Page::of_option(options.stored_in.open);
    let (unstored, output) = (&options.unstored, &options.output);
    run_parts(&folder, manifest, unstored, output, page, &stop)
}

fn list(folder: &RunFolder) -> Result<RunRow, StoreError> {
    let manifest: EvaluationManifest = folder.manifest()?;
    let plan = manifest.plan;
    Ok(RunRow {
        kind: manifest.kind.to_string(),
        stacks: [plan.from, plan.to]
            .iter()
            .map(ToString::to_string)
            .collect(),
        sites: plan.sites.into(),
        started: manifest.started,
        finished: manifest.finished,
        ..RunRow::default()
    })
}

/// Continues an evaluation. Parts that failed are attempted again.
fn go_on(path: &Path, asked: Asked<'_>, page: Page) -> anyhow::Result<Ended> {
    let stop = interrupt::stop_on_signals()?;
    let (folder, manifest) = stored::open::<EvaluationPlan>(path)
        .with_context(|| format!("cannot continue {}", path.display()))?;
    if !asked.own.is_empty() {
        bail_input!("--worker: an evaluation continues with the workers it began with");
    }
    let (unstored, output) = (&asked.unstored, asked.output);
    let (name, begun) = (&manifest.name, &manifest.plan.connections);
    client::request_again(name, &begun.request, &unstored.header)?;
    let shown = unstored.identity.load()?;
    shown.must_be(name, begun.client_certificate.as_ref())?;
    announce(asked.consent, output, &manifest.plan)?;
    run_parts(&folder, manifest, unstored, output, page, &stop)
}

/// Runs the parts that wait, and makes the report.
fn run_parts(
    folder: &RunFolder,
    mut manifest: EvaluationManifest,
    unstored: &Unstored,
    output: &Output,
    page: Page,
    stop: &AtomicBool,
) -> anyhow::Result<Ended> {
    interrupt::keep();
    if !output.quiet {
        note!("netbench: results go to {}", folder.path().display());
    }
    manifest.finished = None;
    manifest.sessions.push(run::session());
    folder.write_manifest(&manifest)?;
    let mut parts = waiting(&manifest.plan).count();
    let mut number = 0;
    let mut answers = Answers::default();
    let mut are_workers_found = false;
    let mut batch = batch::from(&manifest.plan, 0);
    while let (Some(&at), Some(&last)) = (batch.first(), batch.last()) {
        let needs = parts::named(&manifest.plan.parts[at].part).map(|part| part.needs);
        if needs != Some(Needs::Nothing) && !are_workers_found {
            are_workers_found = true;
            let is_new = manifest.sessions.len() == 1;
            // In a continued evaluation, each part that lacks a worker fails with the reason.
            if let Err(error) = find_workers(&mut manifest.plan, output.quiet)
                && is_new
            {
                run::end_session(&mut manifest, true);
                folder.write_manifest(&manifest)?;
                return Err(error);
            }
            folder.write_manifest(&manifest)?;
            parts = number + waiting(&manifest.plan).count();
            // Parts may have turned out to be unsupported.
            batch = batch::from(&manifest.plan, at);
            continue;
        }
        let numbers = (number + 1, parts);
        number += batch.len();
        let running = batch::Running {
            folder,
            manifest: &manifest.clone(),
            unstored,
            output,
            stop,
        };
        running.run(&batch, numbers, |at, record| {
            manifest.plan.parts[at] = record;
            Ok(folder.write_manifest(&manifest)?)
        })?;
        if stop.load(Ordering::Relaxed) {
            break;
        }
        // The results of a part that still ran would not be whole.
        if number < parts {
            answers.show(folder, output);
        }
        batch = batch::from(&manifest.plan, last + 1);
    }
    let interrupted = stop.load(Ordering::Relaxed);
    run::end_session(&mut manifest, interrupted);
    folder.write_manifest(&manifest)?;
    let report = parts::read(folder)?;
    let page = match page {
        Page::None => Page::Made,
        page => page,
    };
    let ended = output::publish(&report, folder, output, page)?;
    let mut parts = report.evaluation.run.plan.parts.iter();
    let failed = parts.find(|record| matches!(record.state, PartState::Failed { .. }));
    if let (Some(record), false) = (failed, interrupted) {
        bail!(
            "the part {} failed; the report says why. `netbench run {}` attempts it again",
            record.part,
            folder.path().display()
        );
    }
    Ok(if interrupted {
        Ended::Interrupted
    } else {
        ended
    })
}

/// Validates all options, and makes the folder.
fn begin(options: &Evaluate) -> anyhow::Result<(RunFolder, EvaluationManifest)> {
    if options.from == options.to {
        bail_input!(
            "--from and --to are both {}: a stack is compared with itself by `netbench connect --stack A,A`",
            output::shown(&options.from)
        );
    }
    for name in options.part.iter().chain(&options.skip) {
        if parts::named(name).is_none() {
            let names = PARTS.map(|part| part.name);
            return Err(output::unknown("unknown part", name, &names).into());
        }
    }
    if sides(options).browsers.is_empty() && options.part.iter().any(|name| name == BROWSERS) {
        bail_input!("--part browsers needs --browsers: no browser is asked without it");
    }
    if !PARTS.iter().any(|part| options.wants(part)) {
        bail_input!("--skip leaves no part");
    }
    let (file, target) = targets::asked(&options.over, &options.targets, HTTPS)?;
    let sites = u32::try_from(file.sites.len()).unwrap_or(u32::MAX);
    let workers = options
        .start
        .own
        .worker
        .iter()
        .map(|(stack, program)| Ok((stack.clone(), absolute(program)?)))
        .collect::<anyhow::Result<Vec<_>>>()?;
    let Sides { from, to, browsers } = sides(options);
    let mut plan = EvaluationPlan {
        from: StackName::new(from),
        to: StackName::new(to),
        depth: if options.quick {
            Depth::Quick
        } else {
            Depth::Full
        },
        target,
        sites_file: options.over.sites.as_deref().map(absolute).transpose()?,
        urls: options.targets.targets.clone(),
        connections: connections(options, target)?,
        limit: options.over.limit,
        sites: options.over.limit.map_or(sites, |limit| limit.min(sites)),
        client_use: options.client_use,
        client_profile: Some(options.client_profile.into()),
        link: (options.link != LinkChoice::Auto).then(|| options.link.to_string()),
        seed: options.start.seed.unwrap_or_else(new_seed),
        workers,
        browsers: browsers.iter().map(ToString::to_string).collect(),
        parts: Vec::new(),
    };
    for part in &PARTS {
        let (state, time) = match options.wants(part) {
            true => (
                PartState::Pending,
                part_time(part, &plan, &options.unstored)?,
            ),
            false => (PartState::LeftOut, Duration::ZERO),
        };
        plan.parts.push(PartRecord {
            part: part.name.to_owned(),
            state,
            estimate_s: time.as_secs(),
            took_s: None,
            notes: Vec::new(),
        });
    }
    // An unknown stack is an error before anything is built.
    workers::needed(&stacks(&plan), &BTreeSet::new(), &options.start.own.worker)?;
    announce(options.start.consent(), &options.output, &plan)?;
    let manifest = Manifest {
        thresholds: options.thresholds.collected(),
        ..run::manifest(plan)
    };
    pipeline::create(manifest, &options.stored_in, "evaluate")
}

/// The stacks and browsers of an evaluation.
struct Sides<'a> {
    from: &'a str,
    to: &'a str,
    browsers: Vec<Product>,
}

/// Returns the stacks and browsers that the options name. Two Servos, such as `servo+openssl` and `servo`, are the stacks of
/// their TLS libraries and two browsers.
fn sides(options: &Evaluate) -> Sides<'_> {
    let [from, to] = [&options.from, &options.to].map(|name| name.parse().ok());
    let (Some(Product::Servo(from)), Some(Product::Servo(to))) = (from, to) else {
        return Sides {
            from: &options.from,
            to: &options.to,
            browsers: options.browsers.clone(),
        };
    };
    let pair = [from, to].map(Product::Servo);
    let others = options
        .browsers
        .iter()
        .filter(|other| !pair.contains(other));
    Sides {
        from: from.stack(),
        to: to.stack(),
        browsers: pair.iter().chain(others).copied().collect(),
    }
}

impl Evaluate {
    /// Returns whether a part is to be run.
    fn wants(&self, part: &Part) -> bool {
        let name = &part.name.to_owned();
        let is_asked = part.name != BROWSERS || !sides(self).browsers.is_empty();
        is_asked && (self.part.is_empty() || self.part.contains(name)) && !self.skip.contains(name)
    }
}

fn stacks(plan: &EvaluationPlan) -> BTreeSet<String> {
    [&plan.from, &plan.to].map(ToString::to_string).into()
}

/// Builds the workers of both stacks where they are missing, before the clock of the first part that needs them, and
/// marks the parts that they do not support.
///
/// # Errors
/// Returns an error if a worker cannot be built. One that does not start is an error of each part.
fn find_workers(plan: &mut EvaluationPlan, quiet: bool) -> anyhow::Result<()> {
    let own: Vec<(String, PathBuf)> = plan
        .workers
        .iter()
        .map(|(stack, program)| (stack.clone(), program.into()))
        .collect();
    let programs = workers::find(workers::needed(&stacks(plan), &BTreeSet::new(), &own)?)?;
    if let Ok(workers) = Workers::probe(programs, None, Arc::default()) {
        leave_out_what_they_cannot(plan, &workers, quiet);
    }
    Ok(())
}

/// Marks the parts that the worker of either stack does not support.
fn leave_out_what_they_cannot(plan: &mut EvaluationPlan, workers: &Workers, quiet: bool) {
    let stacks = [plan.from.clone(), plan.to.clone()];
    for record in plan.parts.iter_mut().filter(|record| waits(&record.state)) {
        let part = parts::named(&record.part);
        let Some(Needs::Operation(operation)) = part.map(|part| part.needs) else {
            continue;
        };
        let mut stacks = stacks.iter();
        if let Some(stack) = stacks.find(|stack| !workers.does(stack.stack(), operation)) {
            let why = format!("it is not supported by the worker of {stack}");
            if !quiet {
                note!("netbench: the part {} is left out: {why}", record.part);
            }
            record.state = PartState::Unsupported { why };
            record.estimate_s = 0;
        }
    }
}

/// Returns the settings of connections, read and validated.
fn connections(options: &Evaluate, target: Target) -> anyhow::Result<ConnectionSettings> {
    let roots = &options.roots.roots;
    targets::roots(roots, None)?;
    let request = &options.request;
    let sent = client::request(&request.method, &options.unstored.header);
    client::only_for_servers(target, &sent, &options.unstored.identity)?;
    Ok(ConnectionSettings {
        roots: match roots {
            RootsSource::Mozilla => None,
            RootsSource::Native => Some(RootsSource::Native),
            RootsSource::File(file) => Some(RootsSource::File(absolute(Path::new(file))?)),
        },
        rounds: options.rounds,
        pause_ms: request.pause.map(millis),
        connect_to: options.targets.connect_to.clone(),
        request: client::record(&sent),
        client_certificate: options.unstored.identity.load()?.record(),
    })
}

fn absolute(path: &Path) -> anyhow::Result<String> {
    let path = std::path::absolute(path)
        .with_context(|| format!("cannot tell where {} is", path.display()))?;
    let text = path.to_str().map(str::to_owned);
    text.with_context(|| format!("{}: the path is not UTF-8", path.display()))
}

/// Returns the predicted time of a part, which is the sum of those of its steps.
fn part_time(part: &Part, plan: &EvaluationPlan, unstored: &Unstored) -> anyhow::Result<Duration> {
    match (part.steps)(plan, unstored) {
        Ok(steps) => steps.steps.iter().map(Step::time).sum(),
        Err(_) => Ok(Duration::ZERO),
    }
}

/// Announces the predicted time of the remaining parts.
fn announce(consent: Consent, output: &Output, plan: &EvaluationPlan) -> anyhow::Result<()> {
    let cost = Cost {
        time: batch::time(plan),
        pieces: waiting(plan).count() as u64,
        unit: ("part", "parts"),
        shorter: "--quick, a --limit or fewer parts",
    };
    cost.announce(consent, output.quiet)
}

fn waiting(plan: &EvaluationPlan) -> impl Iterator<Item = &PartRecord> {
    plan.parts.iter().filter(|part| waits(&part.state))
}

/// Returns whether a part is still to be run: a failed part runs again.
fn waits(state: &PartState) -> bool {
    match state {
        PartState::Pending | PartState::Interrupted | PartState::Failed { .. } => true,
        PartState::Done | PartState::Unsupported { .. } | PartState::LeftOut => false,
    }
}
