use netbench_model::{LinkRecord, SCHEMA_VERSION, ScanManifest, ScanPlanRecord};
use netbench_runner::{Targets, Workers, environment};

use super::settings::Settings;
use crate::run::{now, session, worker_records};

/// The manifest as it stands before the first connection.
pub(crate) fn begin(
    name: String,
    settings: &Settings,
    fleet: &Workers,
    ground: &Targets,
) -> ScanManifest {
    let limits = &settings.limits;
    ScanManifest {
        schema: SCHEMA_VERSION,
        kind: "scan".to_owned(),
        netbench: env!("CARGO_PKG_VERSION").to_owned(),
        name,
        started: now(),
        finished: None,
        scan: ScanPlanRecord {
            place: settings.place,
            sites_file: settings.over.file.name.clone(),
            sites_sha256: settings.over.file.sha256.clone(),
            sites: settings.over.file.sites.clone(),
            parts: limits
                .parts
                .iter()
                .map(|part| part.name().to_owned())
                .collect(),
            jobs: u32::try_from(limits.sites).unwrap_or(u32::MAX),
            rate: limits.rate,
            timeout_ms: u64::try_from(limits.timeout.as_millis()).unwrap_or(u64::MAX),
            retries: limits.retries,
            roots: settings.over.roots_record(),
            seed: settings.over.seed,
            against: settings.against.clone(),
            client_profile: settings.client_profile,
            confirm: settings.confirm,
            summary: settings.summary,
        },
        workers: worker_records(fleet),
        link: link(ground),
        environment: environment(),
        sessions: Vec::new(),
        warnings: Vec::new(),
        origin: settings.over.origin(),
    }
}

pub(crate) fn begin_session(manifest: &mut ScanManifest) {
    manifest.finished = None;
    let changed = manifest.environment.changes(&environment());
    manifest.warnings.extend(changed);
    manifest.sessions.push(session());
}

pub(crate) fn end_session(manifest: &mut ScanManifest, ground: &Targets, interrupted: bool) {
    manifest.link = link(ground);
    if let Some(session) = manifest.sessions.last_mut() {
        session.finished = Some(now());
        session.interrupted = interrupted;
    }
    if !interrupted {
        manifest.finished = Some(now());
    }
}

fn link(ground: &Targets) -> Option<LinkRecord> {
    ground.link().map(netbench_link::Link::record)
}
