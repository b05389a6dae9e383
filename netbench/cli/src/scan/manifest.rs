use std::env;

use netbench_model::{
    LinkRecord, Origin, RootsRecord, SCHEMA_VERSION, ScanManifest, ScanPlanRecord, SuiteSession,
};
use netbench_runner::{Fleet, Ground, environment};

use super::settings::Settings;
use crate::run::now;

/// The manifest as it stands before the first connection.
pub(crate) fn begin(
    name: String,
    settings: &Settings,
    fleet: &Fleet,
    ground: &Ground,
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
            sites_file: settings.sites.name.clone(),
            sites_sha256: settings.sites.sha256.clone(),
            sites: settings.sites.sites.clone(),
            parts: limits
                .parts
                .iter()
                .map(|part| part.name().to_owned())
                .collect(),
            jobs: u32::try_from(limits.sites).unwrap_or(u32::MAX),
            rate: limits.rate,
            timeout_ms: u64::try_from(limits.timeout.as_millis()).unwrap_or(u64::MAX),
            retries: limits.retries,
            roots: RootsRecord {
                source: settings.roots.source.clone(),
                count: settings.roots.count,
                sha256: settings.roots.sha256.clone(),
            },
            seed: settings.seed,
            against: settings.against.clone(),
            client_profile: settings.client_profile,
            confirm: settings.confirm,
            summary: settings.summary,
        },
        workers: fleet
            .descriptions()
            .map(|description| description.record.clone())
            .collect(),
        link: link(ground),
        environment: environment(),
        sessions: Vec::new(),
        warnings: Vec::new(),
        origin: Origin {
            vantage: settings.vantage.clone(),
            shard: settings.shard,
            merged: Vec::new(),
        },
    }
}

pub(crate) fn begin_session(manifest: &mut ScanManifest) {
    manifest.finished = None;
    let changed = manifest.environment.changes(&environment());
    manifest.warnings.extend(changed);
    manifest.sessions.push(SuiteSession {
        started: now(),
        finished: None,
        command: env::args_os()
            .map(|word| word.to_string_lossy().into_owned())
            .collect(),
        interrupted: false,
    });
}

pub(crate) fn end_session(manifest: &mut ScanManifest, ground: &Ground, interrupted: bool) {
    manifest.link = link(ground);
    if let Some(session) = manifest.sessions.last_mut() {
        session.finished = Some(now());
        session.interrupted = interrupted;
    }
    if !interrupted {
        manifest.finished = Some(now());
    }
}

fn link(ground: &Ground) -> Option<LinkRecord> {
    ground.link().map(netbench_link::Link::record)
}
