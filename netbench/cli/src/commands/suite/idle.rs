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

/// What earlier runs found; none where there were none.
pub(crate) fn known() -> Option<IdleReference> {
    let history = read(&file().ok()?);
    reached(history.get(&key())?)
}

/// The lowest level of each loop that two of the runs have reached: one run alone, whose clock was higher than it is in all others,
/// would leave these without verdicts. Of fewer than three runs, the lowest.
fn reached(runs: &[IdleReference]) -> Option<IdleReference> {
    let counts = usize::from(runs.len() > 2);
    let level = |of: fn(&IdleReference) -> f64| {
        let mut levels: Vec<f64> = runs.iter().map(of).collect();
        levels.sort_by(f64::total_cmp);
        levels.get(counts).copied()
    };
    Some(IdleReference {
        integer_ns: level(|run| run.integer_ns)?,
        aes_ns: level(|run| run.aes_ns)?,
        memory_ns: level(|run| run.memory_ns)?,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_run_alone_sets_no_level_once_there_are_three() {
        let runs = [1202.0, 1242.0, 1222.0].map(|memory_ns| IdleReference {
            integer_ns: 2393.0,
            aes_ns: 1802.0,
            memory_ns,
        });
        let memory_ns = |runs: &[IdleReference]| reached(runs).map(|level| level.memory_ns);
        assert_eq!(memory_ns(&runs), Some(1222.0));
        assert_eq!(memory_ns(&runs[1..]), Some(1222.0));
        assert_eq!(memory_ns(&runs[..1]), Some(1202.0));
        assert_eq!(memory_ns(&[]), None);
    }
}
