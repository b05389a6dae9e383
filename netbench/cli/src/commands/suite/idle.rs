//! What the reference loops take on this processor when it is idle, as earlier runs found it.

use std::{collections::BTreeMap, fs, io, path::PathBuf};

use netbench_model::IdleReference;
use netbench_runner::environment;

use crate::cache;

/// Runs that are remembered for each processor. An old one is forgotten at last: a virtual machine may come
/// to another computer of the same name.
const REMEMBERED: usize = 20;

/// Levels of earlier runs, the newest last, by processor and version of netbench.
type History = BTreeMap<String, Vec<IdleReference>>;

/// The lowest level of each loop in earlier runs; none where there were none.
pub(crate) fn known() -> Option<IdleReference> {
    let history = read(&file().ok()?);
    let levels = history.get(&key())?.iter().copied();
    levels.reduce(|a, b| IdleReference {
        integer_ns: a.integer_ns.min(b.integer_ns),
        aes_ns: a.aes_ns.min(b.aes_ns),
        memory_ns: a.memory_ns.min(b.memory_ns),
    })
}

/// Remembers a run's level.
///
/// # Errors
/// The file cannot be written.
pub(crate) fn remember(level: IdleReference) -> anyhow::Result<()> {
    let file = file()?;
    let mut history = read(&file);
    let levels = history.entry(key()).or_default();
    levels.push(level);
    levels.drain(..levels.len().saturating_sub(REMEMBERED));
    // A reader finds the old file or the new one.
    let beside = file.with_extension(format!("json.{}", std::process::id()));
    fs::write(&beside, serde_json::to_vec_pretty(&history)?)?;
    fs::rename(&beside, &file)?;
    Ok(())
}

fn file() -> anyhow::Result<PathBuf> {
    Ok(cache::folder("suite")?.join("reference.json"))
}

/// Nothing of a file that another version wrote in another form.
fn read(file: &PathBuf) -> History {
    let text: io::Result<Vec<u8>> = fs::read(file);
    text.ok()
        .and_then(|text| serde_json::from_slice(&text).ok())
        .unwrap_or_default()
}

/// The loops are other machine code in another version or profile.
fn key() -> String {
    let facts = environment().facts;
    let fact = |name: &str| facts.get(name).map_or("", String::as_str);
    let profile = if cfg!(debug_assertions) {
        "debug"
    } else {
        "release"
    };
    format!(
        "{} {} netbench {} {profile}",
        fact("cpu_model"),
        fact("cpu_microcode"),
        env!("CARGO_PKG_VERSION")
    )
}
