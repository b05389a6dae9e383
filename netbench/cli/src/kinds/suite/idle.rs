//! The times of the reference loops on this processor when it is idle, as earlier runs measured them.

use std::{collections::BTreeMap, fs, io, path::PathBuf};

use netbench_model::{IdleReference, StackName};
use netbench_stacks::cache_folder;

use crate::sites_file::sha256;

/// The number of runs that are remembered for each processor and stack. Old runs are forgotten, because a virtual
/// machine may move to another computer with the same name.
const REMEMBERED: usize = 20;

/// Levels of earlier runs, the newest last, by processor and version of netbench, and by stack.
type History = BTreeMap<String, BTreeMap<StackName, Vec<IdleReference>>>;

/// Returns the lowest idle level of earlier runs on this processor alongside any stack, and alongside each.
pub(crate) fn known() -> (Option<IdleReference>, BTreeMap<StackName, IdleReference>) {
    let mut history = file().map(|file| read(&file)).unwrap_or_default();
    let stacks = history.remove(&key()).unwrap_or_default();
    let levels = stacks
        .into_iter()
        .filter_map(|(stack, runs)| Some((stack, reached(&runs)?)));
    let beside: BTreeMap<StackName, IdleReference> = levels.collect();
    let any = beside.values().copied().reduce(|a, b| IdleReference {
        integer_ns: a.integer_ns.min(b.integer_ns),
        aes_ns: a.aes_ns.min(b.aes_ns),
        memory_ns: a.memory_ns.min(b.memory_ns),
    });
    (any, beside)
}

/// Returns the lowest level of each loop that two of the runs have reached, or the lowest of fewer than three runs. A
/// single run with a higher clock than all others would leave these without verdicts.
fn reached(runs: &[IdleReference]) -> Option<IdleReference> {
    Some(IdleReference {
        integer_ns: level(runs, |run| run.integer_ns)?,
        aes_ns: level(runs, |run| run.aes_ns)?,
        memory_ns: level(runs, |run| run.memory_ns)?,
    })
}

fn level(runs: &[IdleReference], time: fn(&IdleReference) -> f64) -> Option<f64> {
    let mut times: Vec<f64> = runs.iter().map(time).collect();
    times.sort_by(f64::total_cmp);
    times.get(usize::from(runs.len() > 2)).copied()
}

/// Stores a run's levels.
pub(crate) fn remember(levels: BTreeMap<StackName, IdleReference>) -> anyhow::Result<()> {
    if levels.is_empty() {
        return Ok(());
    }
    let file = file()?;
    let mut history = read(&file);
    let stacks = history.entry(key()).or_default();
    for (stack, level) in levels {
        let runs = stacks.entry(stack).or_default();
        runs.push(level);
        runs.drain(..runs.len().saturating_sub(REMEMBERED));
    }
    // A reader finds either the old file or the new one.
    let beside = file.with_extension(format!("json.{}", std::process::id()));
    fs::write(&beside, serde_json::to_vec_pretty(&history)?)?;
    fs::rename(&beside, &file)?;
    Ok(())
}

fn file() -> anyhow::Result<PathBuf> {
    Ok(cache_folder("suite")?.join("reference.json"))
}

/// Reads the history, which is empty if another version wrote the file in another format.
fn read(file: &PathBuf) -> History {
    let text: io::Result<Vec<u8>> = fs::read(file);
    text.ok()
        .and_then(|text| serde_json::from_slice(&text).ok())
        .unwrap_or_default()
}

/// Returns the key of the history. The loops have other machine code in another version or build profile.
fn key() -> String {
    let profile = if cfg!(debug_assertions) {
        "debug"
    } else {
        "release"
    };
    let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    format!(
        "{} netbench {} {profile}",
        processor(&cpuinfo),
        env!("CARGO_PKG_VERSION")
    )
}

/// Returns the facts that distinguish processors: hypervisors give different processors the same name and microcode.
fn processor(cpuinfo: &str) -> String {
    const FACTS: [&str; 7] = [
        "vendor_id",
        "cpu family",
        "model",
        "stepping",
        "model name",
        "microcode",
        "flags",
    ];
    let first = cpuinfo.split("\n\n").next().unwrap_or_default();
    let facts = FACTS.map(|name| {
        let mut lines = first.lines().filter_map(|line| line.split_once(':'));
        let value = lines.find(|(fact, _)| fact.trim() == name);
        value.map_or("", |(_, value)| value.trim())
    });
    let [named @ .., flags] = facts;
    format!("{} flags {}", named.join(" "), sha256(flags.as_bytes()))
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
        for (runs, memory_ns) in [
            (&runs[..], Some(1222.0)),
            (&runs[1..], Some(1222.0)),
            (&runs[..1], Some(1202.0)),
            (&[], None),
        ] {
            assert_eq!(reached(runs).map(|level| level.memory_ns), memory_ns);
        }
    }

    fn cpuinfo(model: u32, stepping: u32, flags: &str) -> String {
        let one = format!(
            "processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: {model}\n\
             model name\t: AMD EPYC\nstepping\t: {stepping}\nmicrocode\t: 0x1000065\n\
             cpu MHz\t\t: 2449.998\nflags\t\t: {flags}\n"
        );
        format!("{one}\n{one}")
    }

    #[test]
    fn processors_of_one_name_are_told_apart() {
        let known = processor(&cpuinfo(1, 1, "fpu vme aes"));
        assert_eq!(known, processor(&cpuinfo(1, 1, "fpu vme aes")));
        for other in [
            cpuinfo(17, 1, "fpu vme aes"),
            cpuinfo(1, 2, "fpu vme aes"),
            cpuinfo(1, 1, "fpu vme aes avx512f"),
        ] {
            assert_ne!(known, processor(&other));
        }
    }
}
