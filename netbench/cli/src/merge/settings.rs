use netbench_model::{Manifest, StackName, WorkerRecord};
use serde::Serialize;

use super::{Merged, Part};
use crate::exit::{WrongInput, bail_input};

/// Refuses runs whose samples would describe different things under one name, and names the
/// differences.
pub(super) fn refuse_mixed<P: Merged>(parts: &[Part<P>]) -> Result<(), WrongInput> {
    let Some((first, others)) = parts.split_first() else {
        return Ok(());
    };
    let wanted = settings(&first.manifest);
    for part in others {
        let found = settings(&part.manifest);
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
            bail_input!(
                "{} and {} differ in {}: they cannot be merged",
                first.path,
                part.path,
                differing.join(", ")
            );
        }
    }
    Ok(())
}

/// Returns all settings that must be the same in merged runs.
fn settings<P: Merged>(manifest: &Manifest<P>) -> Vec<(&'static str, String)> {
    let plan = &manifest.plan;
    let whole_sites = manifest
        .origin
        .shard
        .map_or(plan.sites().len() as u64, |part| {
            u64::from(part.whole_sites)
        });
    let link = manifest.link.as_ref().map(|link| link.kind);
    let workers = workers(&manifest.workers, plan.stacks());
    let mut settings = vec![("the version of netbench", text(&manifest.netbench))];
    settings.extend(plan.settings());
    settings.extend([
        ("the stacks", text(&plan.stacks())),
        ("the number of sites", text(&whole_sites)),
        ("the link", text(&link)),
        ("the workers of the stacks", text(&workers)),
    ]);
    settings
}

/// Returns the workers of the stacks: a shard has only the servers that its sites need.
fn workers(all: &[WorkerRecord], stacks: &[StackName]) -> Vec<WorkerRecord> {
    let mut workers = all.to_vec();
    workers.retain(|worker| stacks.iter().any(|name| name.stack() == worker.stack));
    workers.sort_by(|a, b| a.stack.cmp(&b.stack));
    workers
}

/// Formats a value for comparisons, and for messages if it is short. JSON contains no control
/// characters.
pub(super) fn text(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}
