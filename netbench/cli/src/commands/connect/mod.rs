//! `netbench connect`, in the order in which things must happen: everything that can be wrong is
//! read first, then namespaces are entered, which wants a process of one thread, and only then do
//! threads, workers and servers start.

pub(crate) mod args;
mod manifest;
mod plan;
mod settings;

use std::sync::atomic::{AtomicBool, Ordering};

use netbench_link::Link;
use netbench_model::{Manifest, Target};
use netbench_report::{ConnectReport, Report};
use netbench_runner::{Event, Plan, Targets, Workers, execute};
use netbench_store::RunFolder;

use crate::{
    exit::Ended,
    kept,
    options::Output,
    output,
    progress::Progress,
    run::{self, stop_on_signals},
    workers,
};

use self::{args::Connect, settings::Settings};

pub(crate) fn connect(options: &Connect) -> anyhow::Result<Ended> {
    if options.output.github_summary {
        output::step_summary()?;
    }
    let earlier = options
        .kept_in
        .resume
        .as_deref()
        .map(plan::earlier)
        .transpose()?;
    let settings = match &earlier {
        Some((_, manifest)) => Settings::of_manifest(options, manifest)?,
        None => Settings::of_options(options)?,
    };
    let programs = workers::find(&settings.workers(), &options.begun.own.worker)?;
    let link = match settings.target {
        Target::Lab => Some(settings.over.open_link()?),
        Target::Live => None,
    };
    let stop = stop_on_signals(run::AFTER_TRIALS)?;
    let progress = Progress::of(&options.output, &options.telling);

    let place = link.as_ref().map(Link::client_namespace);
    let fleet = Workers::probe(programs, place.as_ref())?;
    if let Some((_, manifest)) = &earlier {
        run::same_workers(&manifest.name, &manifest.workers, &fleet)?;
    }
    let client = settings.client(&fleet)?;
    if settings.target == Target::Live {
        progress.stage(&format!(
            "--live: connecting over the real network to {} hosts, one connection at a time to each, \
             with a pause of a second between",
            settings.over.file.sites.len()
        ));
    }
    let (ground, roots_pem) = settings.over.ground(link, &fleet, &progress)?;
    let plan = plan::plan(
        &settings,
        client,
        roots_pem,
        &ground,
        earlier.as_ref().map(|e| &e.1),
    );

    let kept_in = &options.kept_in;
    let (folder, mut manifest) = run::folder(earlier, &kept_in.out, &options.name, |name| {
        manifest::begin(name, &settings, &plan, &fleet, &ground)
    })?;
    manifest::begin_session(&mut manifest);
    folder.write_manifest(&manifest)?;
    progress.stage(&format!("samples go to {}", folder.path().display()));

    let ran = measure(&folder, &plan, &fleet, &ground, &progress, &stop);
    progress.end();
    let interrupted = stop.load(Ordering::Relaxed);
    manifest::end_session(&mut manifest, &ground, interrupted);
    // A disk that is full does not keep the report from being read.
    let kept = folder.write_manifest(&manifest);
    // Ends the servers and the link, so that nothing runs any more when the report is read.
    drop(ground);
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

/// Makes the reports, and says whether anything could be compared.
pub(crate) fn publish(
    folder: &RunFolder,
    manifest: &Manifest,
    output: &Output,
) -> anyhow::Result<Ended> {
    let samples = folder.samples().map_err(kept::wrong)?;
    let report = ConnectReport::new(manifest.clone(), samples);
    output::publish(folder, &report, output)?;
    Ok(if report.tells() {
        Ended::Well
    } else {
        Ended::NothingToCompare
    })
}

fn measure(
    folder: &RunFolder,
    plan: &Plan,
    fleet: &Workers,
    ground: &Targets,
    progress: &Progress,
    stop: &AtomicBool,
) -> anyhow::Result<()> {
    let earlier = folder.samples()?;
    let appender = folder.appender()?;
    let listener = |event: Event| progress.hear(&event);
    execute(plan, fleet, ground, &earlier, appender, &listener, stop)?;
    Ok(())
}
