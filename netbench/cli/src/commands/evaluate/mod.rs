//! `netbench evaluate`: its parts one after another, each a command of netbench in a process of its
//! own, and one report of what they found.

pub(crate) mod args;
mod parts;
mod progress;
mod run;

use std::{
    path::Path,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use anyhow::{Context, bail};
use netbench_model::{
    Depth, EvaluationManifest, EvaluationPlan, PartRecord, PartState, SCHEMA_VERSION, StackName,
    Target,
};
use netbench_report::{Evaluation, EvaluationReport, Found, Options, evaluation};
use netbench_store::{RunFolder, RunKind};

use crate::{
    browser,
    exit::{Ended, WrongInput},
    format::Format,
    kept::{self, Kept},
    options::Output,
    output,
    run::{name, now, stop_on_signals},
    sites_file,
    stack_names::new_seed,
    workers,
};

use self::{
    args::Evaluate,
    parts::{PARTS, Part},
    progress::{PartProgress, time},
    run::StepEnd,
};

/// The page's name in the evaluation's folder.
const PAGE: &str = "report.html";

pub(crate) fn evaluate(options: &Evaluate) -> anyhow::Result<Ended> {
    let (folder, mut manifest) = match &options.kept_in.resume {
        Some(path) => earlier(path)?,
        None => begin(options)?,
    };
    let stop = stop_on_signals("stopping, and keeping what there is")?;
    let quiet = options.output.quiet;
    let waiting = |record: &PartRecord| waits(&record.state);
    let total: u64 = manifest
        .parts
        .iter()
        .filter(|p| waiting(p))
        .map(|p| p.estimate_s)
        .sum();
    if !quiet {
        let total = time(Duration::from_secs(total));
        eprintln!(
            "netbench: about {total} in all, once what is needed is built; results go to {}",
            folder.path().display()
        );
    }
    manifest.finished = None;
    folder.write_manifest(&manifest)?;
    let parts = manifest.parts.iter().filter(|p| waiting(p)).count();
    let mut number = 0;
    for at in 0..manifest.parts.len() {
        let record = &manifest.parts[at];
        let known = PARTS.iter().find(|part| part.name == record.part);
        let Some(part) = known.filter(|_| waits(&record.state)) else {
            continue;
        };
        number += 1;
        let progress = PartProgress::new(
            quiet,
            part.name,
            (number, parts),
            (part.estimate)(&manifest.plan),
        );
        let (state, notes) = run_part(part, &folder, &manifest.plan, &stop, &progress);
        let took = progress.end(words(&state));
        let record = &mut manifest.parts[at];
        record.took_s = Some(record.took_s.unwrap_or(0) + took.as_secs());
        record.state = state;
        record.notes = notes;
        folder.write_manifest(&manifest)?;
        if stop.load(Ordering::Relaxed) {
            break;
        }
    }
    let interrupted = stop.load(Ordering::Relaxed);
    if !interrupted {
        manifest.finished = Some(now());
    }
    folder.write_manifest(&manifest)?;
    let evaluation = publish(&folder, manifest, &options.output)?;
    if options.open {
        browser::open(&folder.path().join(PAGE))?;
    }
    let failed = |record: &&PartRecord| matches!(record.state, PartState::Failed { .. });
    let mut failed = evaluation.run.parts.iter().filter(failed);
    if let (Some(record), false) = (failed.next(), interrupted) {
        bail!(
            "the part {} failed, which the report tells; `netbench evaluate --resume {}` tries again",
            record.part,
            folder.path().display()
        );
    }
    Ok(match (interrupted, evaluation.answered()) {
        (true, _) => Ended::Interrupted,
        (false, true) => Ended::Well,
        (false, false) => Ended::NothingToCompare,
    })
}

/// Makes the reports, and the page.
fn publish(
    folder: &RunFolder,
    manifest: EvaluationManifest,
    output: &Output,
) -> anyhow::Result<Evaluation> {
    let report = read(folder, manifest);
    output::print(&report, output)?;
    output::keep(folder, &report, output)?;
    let page = Format::named("html")
        .form()
        .of(&report, &Options::default());
    let page = folder.write_file(PAGE, &page)?;
    if !output.quiet {
        eprintln!("netbench: the page is {}", page.display());
    }
    Ok(report.evaluation)
}

/// What the parts have kept, and what it says.
pub(crate) fn read(folder: &RunFolder, manifest: EvaluationManifest) -> EvaluationReport {
    let mut found = Found::default();
    let mut runs = Vec::new();
    let mut unread = Vec::new();
    for record in &manifest.parts {
        let Some(part) = PARTS.iter().find(|part| part.name == record.part) else {
            continue;
        };
        let place = folder.path().join(part.name);
        if let Err(error) = (part.collect)(&place, &manifest.plan, &mut found, &mut runs) {
            unread.push(format!(
                "The results of the part {} cannot be read: {error:#}",
                part.name
            ));
        }
    }
    let mut evaluation = evaluation(manifest, found);
    evaluation.warnings.extend(unread);
    EvaluationReport {
        evaluation,
        parts: runs.into_iter().map(Kept::into_report).collect(),
    }
}

/// Reads everything that can be wrong, and makes the folder.
fn begin(options: &Evaluate) -> anyhow::Result<(RunFolder, EvaluationManifest)> {
    if options.from == options.to {
        return Err(WrongInput(format!(
            "--from and --to are both {}: a stack is compared with itself by `netbench connect --stack A,A`",
            options.from.escape_debug()
        ))
        .into());
    }
    for name in options.part.iter().chain(&options.skip) {
        if !PARTS.iter().any(|part| part.name == name) {
            let names: Vec<_> = PARTS.iter().map(|part| part.name).collect();
            return Err(WrongInput(format!(
                "there is no part \"{}\"; there are {}",
                name.escape_debug(),
                names.join(", ")
            ))
            .into());
        }
    }
    let wanted = |part: &Part| {
        let named = |names: &[String]| names.iter().any(|name| name == part.name);
        (options.part.is_empty() || named(&options.part)) && !named(&options.skip)
    };
    if !PARTS.iter().any(wanted) {
        return Err(WrongInput("--skip leaves no part".to_owned()).into());
    }
    let file = sites_file::read(options.which.sites.as_deref())?;
    let sites = u32::try_from(file.sites.len()).unwrap_or(u32::MAX);
    let absolute = |path: &Path| {
        let path = std::path::absolute(path)
            .with_context(|| format!("cannot tell where {} is", path.display()))?;
        let text = path.to_str().map(str::to_owned);
        text.with_context(|| format!("{}: the path is not UTF-8", path.display()))
    };
    let workers = options
        .begun
        .own
        .worker
        .iter()
        .map(|(stack, program)| Ok((stack.clone(), absolute(program)?)))
        .collect::<anyhow::Result<Vec<_>>>()?;
    let plan = EvaluationPlan {
        from: StackName::new(&options.from),
        to: StackName::new(&options.to),
        depth: if options.quick {
            Depth::Quick
        } else {
            Depth::Full
        },
        target: if options.which.live {
            Target::Live
        } else {
            Target::Lab
        },
        sites_file: options.which.sites.as_deref().map(absolute).transpose()?,
        limit: options.which.limit,
        sites: options.which.limit.map_or(sites, |limit| limit.min(sites)),
        seed: options.begun.seed.unwrap_or_else(new_seed),
        workers,
    };
    // A stack that there is none of is found now, and builds happen before the clock runs.
    let stacks = [&options.from, &options.to].map(Clone::clone).into();
    workers::find(&stacks, &options.begun.own.worker)?;
    let parts = PARTS.iter().map(|part| PartRecord {
        part: part.name.to_owned(),
        state: if wanted(part) {
            PartState::Pending
        } else {
            PartState::LeftOut
        },
        estimate_s: (part.estimate)(&plan).as_secs(),
        took_s: None,
        notes: Vec::new(),
    });
    let manifest = EvaluationManifest {
        schema: SCHEMA_VERSION,
        kind: "evaluate".to_owned(),
        netbench: env!("CARGO_PKG_VERSION").to_owned(),
        name: name(&options.kept_in.out, &options.name),
        started: now(),
        finished: None,
        command: std::env::args().collect(),
        parts: parts.collect(),
        plan,
    };
    let path = options.kept_in.out.join(&manifest.name);
    let folder =
        RunFolder::create(&path, &manifest).context("cannot make the evaluation's folder")?;
    Ok((folder, manifest))
}

fn earlier(path: &Path) -> anyhow::Result<(RunFolder, EvaluationManifest)> {
    kept::open_as(
        path,
        RunKind::Evaluate,
        "not an evaluation, so that `netbench evaluate` cannot go on with it",
    )
}

/// Whether a part is still to be done: one that failed is tried again.
fn waits(state: &PartState) -> bool {
    match state {
        PartState::Pending | PartState::Interrupted | PartState::Failed { .. } => true,
        PartState::Done | PartState::Unsupported { .. } | PartState::LeftOut => false,
    }
}

fn run_part(
    part: &Part,
    folder: &RunFolder,
    plan: &EvaluationPlan,
    stop: &AtomicBool,
    progress: &PartProgress,
) -> (PartState, Vec<String>) {
    let steps = match (part.steps)(plan) {
        Ok(steps) => steps,
        Err(parts::Unsupported(why)) => return (PartState::Unsupported { why }, Vec::new()),
    };
    let place = folder.path().join(part.name);
    let mut state = PartState::Done;
    for step in &steps.steps {
        state = match run::step(step, &place, stop, progress) {
            Ok(StepEnd::Done) => PartState::Done,
            Ok(StepEnd::Interrupted) => PartState::Interrupted,
            Ok(StepEnd::Failed(why)) => PartState::Failed { why },
            Err(error) => PartState::Failed {
                why: format!("{error:#}"),
            },
        };
        if state != PartState::Done {
            break;
        }
    }
    (state, steps.notes)
}

fn words(state: &PartState) -> &'static str {
    match state {
        PartState::Pending => "not begun",
        PartState::Done => "done",
        PartState::Interrupted => "interrupted",
        PartState::Failed { .. } => "failed",
        PartState::Unsupported { .. } => "unsupported",
        PartState::LeftOut => "left out",
    }
}
