use std::collections::BTreeMap;

use netbench_model::{LinkCheck, LinkKind, LinkRecord, Manifest, PlanRecord, SCHEMA_VERSION};
use netbench_runner::{Plan, Targets, Workers, environment};

use super::settings::Settings;
use crate::run::{now, session, worker_records};

/// The manifest as it stands before the first trial. Checks the link, which takes a few of its
/// round trips.
pub(crate) fn begin(
    name: String,
    settings: &Settings,
    plan: &Plan,
    fleet: &Workers,
    ground: &Targets,
) -> anyhow::Result<Manifest> {
    let checks = ground
        .link()
        .map(netbench_link::Link::check)
        .transpose()?
        .unwrap_or_default();
    Ok(Manifest {
        schema: SCHEMA_VERSION,
        netbench: env!("CARGO_PKG_VERSION").to_owned(),
        name,
        started: now(),
        finished: None,
        plan: PlanRecord {
            seed: plan.seed,
            stacks: plan.stacks.clone(),
            conditions: plan.conditions.clone(),
            rounds: plan.rounds,
            jobs: plan.jobs,
            target: plan.target,
            sites_file: settings.over.file.name.clone(),
            sites_sha256: settings.over.file.sha256.clone(),
            sites: plan.sites.clone(),
            client: plan.client.clone(),
            roots: settings.over.roots_record(),
            timeout_ms: u64::try_from(plan.timeout.as_millis()).unwrap_or(u64::MAX),
        },
        workers: worker_records(fleet),
        link: link_record(ground, checks),
        environment: environment(),
        sessions: Vec::new(),
        warnings: Vec::new(),
        origin: settings.over.origin(),
    })
}

pub(crate) fn begin_session(manifest: &mut Manifest) {
    manifest.finished = None;
    let changed = manifest.environment.changes(&environment());
    manifest.warnings.extend(changed);
    manifest.sessions.push(session().into());
}

/// Takes down what only the end can tell.
pub(crate) fn end_session(manifest: &mut Manifest, ground: &Targets, interrupted: bool) {
    let served = ground.served().unwrap_or_else(|error| {
        manifest
            .warnings
            .push(format!("the lab's own counts are missing: {error}"));
        Vec::new()
    });
    let checks = std::mem::take(&mut manifest.link.checks);
    manifest.link = link_record(ground, checks);
    for (server, bytes) in ground.server_peaks() {
        let name = format!("server_peak_bytes_{server}");
        manifest.environment.facts.insert(name, bytes.to_string());
    }
    if let Some(session) = manifest.sessions.last_mut() {
        session.finished = Some(now());
        session.interrupted = interrupted;
        session.served = served;
    }
    if !interrupted {
        manifest.finished = Some(now());
    }
}

fn link_record(ground: &Targets, checks: Vec<LinkCheck>) -> LinkRecord {
    match ground.link() {
        Some(link) => LinkRecord {
            checks,
            ..link.record()
        },
        None => LinkRecord {
            kind: LinkKind::Live,
            why: "--live".to_owned(),
            checks,
            lateness_ns: BTreeMap::new(),
            packets: BTreeMap::new(),
            losses_sha256: None,
            settings: BTreeMap::new(),
        },
    }
}
