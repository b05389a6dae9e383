//! `netbench scan`, in the order in which things must happen: everything that can be wrong is read
//! first, then namespaces are entered, which wants a process of one thread, then workers give their
//! hellos, then the sites are scanned, and at last handshakes confirm what was predicted of them.

pub(crate) mod args;
mod manifest;
mod record;
pub(crate) mod settings;

use std::{
    collections::HashSet,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use netbench_interop::LossReport;
use netbench_link::Link;
use netbench_model::{
    ScanManifest, ScanPlace,
    scan::{AgainstRecord, Offer, SiteScan},
};
use netbench_report::{ScanSummary, summarize_scan};
use netbench_runner::{
    Targets, Workers,
    scan::{Clients, client_settings, confirm, offers},
};
use netbench_scan::{ScanEvent, ScanTarget, TrustAnchors, raise_descriptor_limit, scan_all};
use netbench_store::{RunFolder, RunKind};

use crate::{
    exit::Ended,
    kept, output,
    progress::{Progress, SiteEvent},
    run::{self, stop_on_signals},
    workers,
};

use self::{args::Scan, settings::Settings};

/// What a run keeps of the stacks that it was made against.
pub(crate) const AGAINST: &str = "against.json";

pub(crate) fn scan(options: &Scan) -> anyhow::Result<Ended> {
    let earlier = options.kept_in.resume.as_deref().map(open).transpose()?;
    let settings = match &earlier {
        Some((_, manifest)) => Settings::of_manifest(manifest)?,
        None => Settings::of_options(options)?,
    };
    let place = Place {
        out: &options.kept_in.out,
        name: &options.name,
        earlier,
    };
    let ran = run_scan(
        &settings,
        place,
        &options.begun.own.worker,
        options.output.quiet,
    )?;
    output::publish(&ran.folder, &ran.summary, &options.output)?;
    Ok(if ran.interrupted {
        Ended::Interrupted
    } else {
        Ended::Well
    })
}

/// Where a run goes.
pub(crate) struct Place<'a> {
    /// The folder of runs.
    pub(crate) out: &'a Path,
    /// The last part of the run's name.
    pub(crate) name: &'a str,
    /// The run that is gone on with.
    pub(crate) earlier: Option<(RunFolder, ScanManifest)>,
}

/// A scan that was made and kept.
pub(crate) struct Ran {
    pub(crate) folder: RunFolder,
    pub(crate) summary: ScanSummary,
    pub(crate) interrupted: bool,
}

/// Makes a scan as `settings` say, with what its stacks lose in its summary. Must be called while
/// the process has one thread, as [`Link::open`] must.
pub(crate) fn run_scan(
    settings: &Settings,
    place: Place<'_>,
    own_workers: &[(String, std::path::PathBuf)],
    quiet: bool,
) -> anyhow::Result<Ran> {
    let programs = workers::find(&settings.workers(), own_workers)?;
    raise_descriptor_limit();
    let link = match settings.place {
        ScanPlace::Lab => Some(settings.over.open_link()?),
        ScanPlace::Loopback | ScanPlace::Live => None,
    };
    let stop = stop_on_signals(run::AFTER_TRIALS)?;
    let progress = Progress::counting(quiet, "sites");
    let inside = link.as_ref().map(Link::client_namespace);
    let fleet = Workers::probe(programs, inside.as_ref())?;
    if let Some((_, manifest)) = &place.earlier {
        run::same_workers(&manifest.name, &manifest.workers, &fleet)?;
    }
    if settings.place == ScanPlace::Live {
        let rate = settings.limits.rate.unwrap_or(f64::INFINITY);
        progress.stage(&format!(
            "--live: scanning {} hosts over the real network, at most {rate} connections a second, one \
             at a time to each",
            settings.over.file.sites.len()
        ));
    }
    let (ground, roots_pem) = settings.over.ground(link, &fleet, &progress)?;
    let client = client_settings(settings.client_profile, &settings.against, &fleet);
    let offers = offers(
        &settings.against,
        &fleet,
        inside.as_ref(),
        &client,
        &roots_pem,
    )?;

    let (folder, mut manifest) = run::folder(place.earlier, place.out, place.name, |name| {
        Ok(manifest::begin(name, settings, &fleet, &ground))
    })?;
    manifest::begin_session(&mut manifest);
    folder.write_manifest(&manifest)?;
    progress.stage(&format!("results go to {}", folder.path().display()));

    let scanned = scan_sites(settings, &folder, &ground, &roots_pem, &progress, &stop);
    progress.end();
    let clients = Clients {
        workers: &fleet,
        targets: &ground,
        place: inside.as_ref(),
        client: &client,
        roots_pem: &roots_pem,
        stop: &stop,
    };
    let confirmed = scanned.and_then(|()| against(settings, &folder, &clients, offers, &progress));
    let interrupted = stop.load(Ordering::Relaxed);
    manifest::end_session(&mut manifest, &ground, interrupted);
    // A disk that is full does not keep the report from being read.
    let kept = folder.write_manifest(&manifest);
    drop(ground);
    let summary = summary(&folder, &manifest);
    confirmed?;
    kept?;
    Ok(Ran {
        summary: summary?,
        folder,
        interrupted,
    })
}

/// Prints a kept scan as a sites file.
pub(crate) fn record(run: &Path) -> anyhow::Result<Ended> {
    let (folder, manifest) = open(run)?;
    let summary = summary(&folder, &manifest)?;
    let text = record::lines(&manifest.name, &manifest.scan.sites, &summary.sites);
    output::write(text.as_bytes())?;
    Ok(Ended::Well)
}

/// What a kept scan says.
pub(crate) fn summary(folder: &RunFolder, manifest: &ScanManifest) -> anyhow::Result<ScanSummary> {
    let against: Option<AgainstRecord> = folder.read_json(AGAINST)?;
    Ok(summarize_scan(manifest, folder.scans()?, against))
}

/// A kept scan.
fn open(path: &Path) -> anyhow::Result<(RunFolder, ScanManifest)> {
    kept::open_as(path, RunKind::Scan, "not a run of scan")
}

/// Scans the sites that no earlier session has done.
fn scan_sites(
    settings: &Settings,
    folder: &RunFolder,
    ground: &Targets,
    roots_pem: &str,
    progress: &Progress,
    stop: &Arc<AtomicBool>,
) -> anyhow::Result<()> {
    let earlier: Vec<SiteScan> = folder.scans()?;
    let done: HashSet<&str> = earlier.iter().map(|scan| scan.site.as_str()).collect();
    let sites = &settings.over.file.sites;
    let targets: Vec<ScanTarget> = sites
        .iter()
        .enumerate()
        .filter(|(_, site)| !done.contains(site.name().as_str()))
        .map(|(i, site)| ScanTarget {
            site: site.name(),
            host: site.host.to_string(),
            port: site.port,
            address: ground.address(i).map_err(|failure| failure.detail),
        })
        .collect();
    progress.hear_scan(&SiteEvent::Begin {
        sites: sites.len() as u64,
        done: (sites.len() - targets.len()) as u64,
    });
    drop(earlier);
    let mut appender = folder.scan_appender()?;
    let roots = TrustAnchors::of_pem(roots_pem);
    let limits = settings.limits.clone();
    let work = || {
        scan_all::<anyhow::Error>(targets, limits, roots, stop, |event| {
            let ScanEvent::Done(scan) = event;
            appender.append(scan)?;
            progress.hear_scan(&SiteEvent::Done {
                scanned: scan.is_scanned(),
            });
            Ok(())
        })
    };
    match ground.link() {
        Some(link) => link.client_namespace().run(work)?,
        None => work(),
    }
}

/// Predicts what the stacks agree on, has handshakes confirm it, and keeps both.
fn against(
    settings: &Settings,
    folder: &RunFolder,
    clients: &Clients<'_>,
    offers: Vec<Offer>,
    progress: &Progress,
) -> anyhow::Result<()> {
    if offers.is_empty() {
        return Ok(());
    }
    let scans: Vec<SiteScan> = folder.scans()?;
    let predicted = LossReport::new(offers, &scans, Vec::new());
    progress.stage("confirming by handshakes");
    let (stacks, sites) = (&settings.against, &settings.over.file.sites);
    let confirmed = confirm(clients, stacks, sites, &scans, &predicted, settings.confirm);
    let record = AgainstRecord {
        offers: predicted.offers,
        confirmed,
    };
    folder.write_file(AGAINST, &serde_json::to_vec_pretty(&record)?)?;
    Ok(())
}
