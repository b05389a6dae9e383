//! `netbench suite`: what was asked for becomes a validated plan, then workers are found, and the plan
//! is taken through its rounds.

pub(crate) mod args;
mod manifest;
mod settings;

use std::sync::atomic::Ordering;

use anyhow::Context;
use netbench_model::{Case, SuiteManifest, SuiteSample};
use netbench_report::{Report, SuiteReport, decided};
use netbench_runner::{SuiteEvent, SuitePlan, Workers, execute_suite};
use netbench_store::{RunFolder, RunKind};

use crate::{
    exit::Ended,
    kept,
    options::Output,
    output,
    progress::Progress,
    run::{self, stop_on_signals},
    workers,
};

use self::{args::Suite, settings::Settings};

pub(crate) fn suite(options: &Suite) -> anyhow::Result<Ended> {
    if options.output.github_summary {
        output::step_summary()?;
    }
    let earlier = options.kept_in.resume.as_deref().map(earlier).transpose()?;
    let settings = match &earlier {
        Some((_, manifest)) => Settings::of_manifest(options, manifest)?,
        None => Settings::of_options(options)?,
    };
    if options.list {
        let names = settings
            .scenarios
            .iter()
            .flat_map(|scenario| scenario.cases());
        let names: Vec<String> = names.map(|case: Case| format!("{case}\n")).collect();
        output::write(names.concat().as_bytes())?;
        return Ok(Ended::Well);
    }
    let programs = workers::find(&settings.workers(), &options.begun.own.worker)?;
    let stop = stop_on_signals(run::AFTER_TRIALS)?;
    let progress = Progress::of(&options.output, &options.telling);
    let fleet = Workers::probe(programs, None)?;
    if let Some((_, manifest)) = &earlier {
        run::same_workers(&manifest.name, &manifest.workers, &fleet)?;
    }
    let plan = settings.plan(&fleet, &progress)?;
    let kept_in = &options.kept_in;
    let (folder, mut manifest) = run::folder(earlier, &kept_in.out, &settings.name, |name| {
        Ok(manifest::begin(name, &settings, &plan, &fleet))
    })?;
    manifest::begin_session(&mut manifest);
    folder.write_manifest(&manifest)?;
    progress.stage(&format!("samples go to {}", folder.path().display()));

    let ran = measure(&folder, &plan, &fleet, &manifest, &progress, &stop);
    progress.end();
    let interrupted = stop.load(Ordering::Relaxed);
    manifest::end_session(&mut manifest, interrupted);
    // A disk that is full does not keep the report from being read.
    let kept = folder.write_manifest(&manifest);
    let ended = publish(&folder, &manifest, &options.output);
    ran?;
    kept?;
    let ended = ended?;
    Ok(if interrupted {
        Ended::Interrupted
    } else {
        ended
    })
}

/// Makes the reports, and says whether there is a figure to read.
fn publish(folder: &RunFolder, manifest: &SuiteManifest, output: &Output) -> anyhow::Result<Ended> {
    let samples: Vec<SuiteSample> = folder.samples().map_err(kept::wrong)?;
    let report = SuiteReport::new(manifest.clone(), &samples);
    output::publish(folder, &report, output)?;
    Ok(if report.tells() {
        Ended::Well
    } else {
        Ended::NothingToCompare
    })
}

fn measure(
    folder: &RunFolder,
    plan: &SuitePlan,
    fleet: &Workers,
    manifest: &SuiteManifest,
    progress: &Progress,
    stop: &std::sync::atomic::AtomicBool,
) -> anyhow::Result<()> {
    let earlier: Vec<SuiteSample> = folder.samples()?;
    let appender = folder.appender()?;
    let listener = |event: SuiteEvent<'_>| progress.hear_suite(&event);
    let feedback = |samples: &[SuiteSample], rounds: u32| decided(&manifest.suite, samples, rounds);
    let feedback: Option<&netbench_runner::SuiteFeedback<'_>> = if manifest.suite.until_decided {
        Some(&feedback)
    } else {
        None
    };
    execute_suite(plan, fleet, earlier, appender, feedback, &listener, stop)?;
    Ok(())
}

/// The run that is to be gone on with.
fn earlier(path: &std::path::Path) -> anyhow::Result<(RunFolder, SuiteManifest)> {
    let (folder, manifest) =
        open(path).with_context(|| format!("cannot go on with {}", path.display()))?;
    Ok((folder, manifest))
}

/// A run of the suite.
pub(crate) fn open(path: &std::path::Path) -> anyhow::Result<(RunFolder, SuiteManifest)> {
    let otherwise = "a run of another command, where one of the suite was expected";
    kept::open_as(path, RunKind::Suite, otherwise)
}
