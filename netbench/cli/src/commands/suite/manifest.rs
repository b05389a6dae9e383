use netbench_model::{LayoutRecord, PinRecord, SCHEMA_VERSION, SuiteManifest, SuitePlanRecord};
use netbench_runner::{Layout, SuitePlan, Workers, environment};

use super::settings::Settings;
use crate::run::{now, session, worker_records};

/// The manifest as it stands before the first trial.
pub(crate) fn begin(
    name: String,
    settings: &Settings,
    plan: &SuitePlan,
    fleet: &Workers,
) -> SuiteManifest {
    let number = |n: u128| u64::try_from(n).unwrap_or(u64::MAX);
    SuiteManifest {
        schema: SCHEMA_VERSION,
        kind: "suite".to_owned(),
        netbench: env!("CARGO_PKG_VERSION").to_owned(),
        name,
        started: now(),
        finished: None,
        suite: SuitePlanRecord {
            seed: plan.seed,
            stacks: plan.stacks.clone(),
            preset: settings.preset.map(|preset| preset.to_string()),
            scenarios: plan.scenarios.clone(),
            rounds: plan.rounds,
            until_decided: settings.until_decided,
            budget_ms: settings
                .until_decided
                .then(|| number(settings.budget.as_millis())),
            trial_ms: number(plan.trial.as_millis()),
            slice_us: number(plan.slice.as_micros()),
            pin: plan.core.map_or(PinRecord::Free, PinRecord::Core),
            layout: match plan.layout {
                Layout::Fixed => LayoutRecord::Fixed,
                Layout::System => LayoutRecord::Random,
            },
            pki_sha256: plan.materials.sha256().to_owned(),
        },
        workers: worker_records(fleet),
        environment: environment(),
        sessions: Vec::new(),
        warnings: Vec::new(),
    }
}

pub(crate) fn begin_session(manifest: &mut SuiteManifest) {
    manifest.finished = None;
    let changed = manifest.environment.changes(&environment());
    manifest.warnings.extend(changed);
    manifest.sessions.push(session());
}

pub(crate) fn end_session(manifest: &mut SuiteManifest, interrupted: bool) {
    if let Some(session) = manifest.sessions.last_mut() {
        session.finished = Some(now());
        session.interrupted = interrupted;
    }
    if !interrupted {
        manifest.finished = Some(now());
    }
}
