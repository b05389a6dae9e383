use netbench_model::{Manifest, StackName, WorkerRecord};
use serde_json::{Value, json};

use super::{Merged, Part, whole_sites};
use crate::exit::bail_input;

/// The length of the longest value in a message.
const LONGEST: usize = 60;

/// Refuses runs whose samples would describe different things under one name, and names the
/// differences.
pub(super) fn refuse_mixed<P: Merged>(parts: &[Part<P>]) -> anyhow::Result<()> {
    let Some((first, others)) = parts.split_first() else {
        return Ok(());
    };
    let wanted = settings(&first.manifest)?;
    for part in others {
        let found = settings(&part.manifest)?;
        let mut differing = Vec::new();
        differences("", &wanted, &found, &mut differing);
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

/// Names the settings that differ, with both values if they are short. A field of the plan is named as in its manifest:
/// `client.groups`. JSON contains no control characters.
fn differences(name: &str, wanted: &Value, found: &Value, to: &mut Vec<String>) {
    match (wanted, found) {
        (Value::Object(all), Value::Object(others)) => {
            let new = others.keys().filter(|field| !all.contains_key(*field));
            for field in all.keys().chain(new) {
                let path = match name {
                    "" => field.clone(),
                    _ => format!("{name}.{field}"),
                };
                let [a, b] = [all, others].map(|side| side.get(field).unwrap_or(&Value::Null));
                differences(&path, a, b, to);
            }
        }
        _ if wanted == found => {}
        _ => {
            let (a, b) = (wanted.to_string(), found.to_string());
            to.push(match a.len().max(b.len()) <= LONGEST {
                true => format!("{name} ({a} and {b})"),
                false => name.to_owned(),
            });
        }
    }
}

/// Returns all settings that must be the same in merged runs: the fields of the plan, and facts about the session.
fn settings<P: Merged>(manifest: &Manifest<P>) -> anyhow::Result<Value> {
    let plan = &manifest.plan;
    let mut settings = serde_json::to_value(plan)?;
    for field in P::MAY_DIFFER {
        remove(&mut settings, field);
    }
    let link = manifest.link.as_ref().map(|link| link.kind);
    let workers = workers(&manifest.workers, plan.stacks());
    for (name, value) in [
        ("the version of netbench", json!(manifest.netbench)),
        ("the number of sites", json!(whole_sites(manifest))),
        ("the link", json!(link)),
        ("the workers of the stacks", json!(workers)),
    ] {
        settings[name] = value;
    }
    Ok(settings)
}

/// Removes the field of a JSON pointer.
fn remove(value: &mut Value, pointer: &str) {
    if let Some((above, field)) = pointer.rsplit_once('/')
        && let Some(Value::Object(fields)) = value.pointer_mut(above)
    {
        fields.remove(field);
    }
}

/// Returns the workers of the stacks: a shard has only the servers that its sites need.
fn workers(all: &[WorkerRecord], stacks: &[StackName]) -> Vec<WorkerRecord> {
    let mut workers = all.to_vec();
    workers.retain(|worker| stacks.iter().any(|name| name.stack() == worker.stack));
    workers.sort_by(|a, b| a.stack.cmp(&b.stack));
    workers
}
