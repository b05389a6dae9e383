use netbench_model::{Manifest, StackName, WorkerRecord};
use serde::Serialize;

use super::{Part, groups::Run};
use crate::exit::WrongInput;

/// Refuses runs whose samples would be of different things under one name, and says what differs.
pub(super) fn refuse_mixed(parts: &[impl Settled]) -> Result<(), WrongInput> {
    let Some((first, others)) = parts.split_first() else {
        return Ok(());
    };
    let wanted = first.settings();
    for part in others {
        let found = part.settings();
        let differing: Vec<String> = wanted
            .iter()
            .zip(&found)
            .filter(|((_, a), (_, b))| a != b)
            .map(|((what, a), (_, b))| {
                if a.len().max(b.len()) <= 60 {
                    format!("{what} ({a} and {b})")
                } else {
                    (*what).to_owned()
                }
            })
            .collect();
        if !differing.is_empty() {
            return Err(WrongInput(format!(
                "{} and {} differ in {}: they cannot be joined",
                first.facts().path,
                part.facts().path,
                differing.join(", ")
            )));
        }
    }
    Ok(())
}

/// A run whose settings can be held against another's.
pub(super) trait Settled: Run {
    /// All that must be the same in runs that are joined.
    fn settings(&self) -> Vec<(&'static str, String)>;
}

impl Settled for Part {
    fn settings(&self) -> Vec<(&'static str, String)> {
        settings(&self.manifest)
    }
}

/// The seed is not among them: each whole run has its own.
fn settings(manifest: &Manifest) -> Vec<(&'static str, String)> {
    let plan = &manifest.plan;
    let whole_sites = manifest
        .origin
        .shard
        .map_or(plan.sites.len() as u64, |part| u64::from(part.whole_sites));
    let workers = workers(&manifest.workers, &plan.stacks);
    vec![
        ("the version of netbench", text(&manifest.netbench)),
        ("the stacks", text(&plan.stacks)),
        ("the conditions", text(&plan.conditions)),
        ("the rounds", text(&plan.rounds)),
        ("the trials at one time (--jobs)", text(&plan.jobs)),
        ("lab or --live", text(&plan.target)),
        ("the sites file", text(&plan.sites_sha256)),
        ("the number of sites", text(&whole_sites)),
        ("what clients offer", text(&plan.client)),
        ("the trust roots", text(&plan.roots.sha256)),
        ("the number of trust roots", text(&plan.roots.count)),
        ("the time limit", text(&plan.timeout_ms)),
        ("the link", text(&manifest.link.kind)),
        ("the workers of the stacks", text(&workers)),
    ]
}

/// Those of the stacks: a shard has only the servers that its sites need.
pub(super) fn workers(all: &[WorkerRecord], stacks: &[StackName]) -> Vec<WorkerRecord> {
    let mut workers = all.to_vec();
    workers.retain(|worker| stacks.iter().any(|name| name.stack() == worker.stack));
    workers.sort_by(|a, b| a.stack.cmp(&b.stack));
    workers
}

/// For comparing, and for showing where it is short. JSON has no control characters in it.
pub(super) fn text(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}
