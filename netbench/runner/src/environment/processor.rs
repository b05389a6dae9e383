//! Hyper-threading, turbo and the frequency governors, from the kernel's files.

use std::{collections::BTreeSet, fs, path::Path};

use netbench_model::{Environment, NOT_SHOWN};

use super::read;

/// The folder of the kernel's files.
pub(super) const CPUS: &str = "/sys/devices/system/cpu";

/// Returns the facts of the processor that this folder describes.
pub(super) fn facts(cpus: &Path) -> Vec<(&'static str, String)> {
    let siblings = of_all(cpus, "topology/thread_siblings_list");
    let shared: Vec<&str> = siblings
        .iter()
        .map(String::as_str)
        .filter(|list| list.contains([',', '-']))
        .collect();
    let active = read(cpus.join("smt/active"));
    let hyper_threading = match active.as_deref() {
        Some("1") => "on",
        Some("0") => "off",
        _ if !shared.is_empty() => "on",
        _ if !siblings.is_empty() => "off",
        _ => NOT_SHOWN,
    };
    let no_turbo = read(cpus.join("intel_pstate/no_turbo"));
    let boost = read(cpus.join("cpufreq/boost"));
    let turbo = match (no_turbo.as_deref(), boost.as_deref()) {
        (Some("0"), _) | (None, Some("1")) => "on",
        (Some("1"), _) | (None, Some("0")) => "off",
        _ => NOT_SHOWN,
    };
    let governors = of_all(cpus, "cpufreq/scaling_governor");
    let governors: Vec<String> = governors.into_iter().collect();
    vec![
        (Environment::HYPER_THREADING, hyper_threading.to_owned()),
        (Environment::THREAD_SIBLINGS, shared.join(" ")),
        (Environment::TURBO, turbo.to_owned()),
        (Environment::GOVERNOR, governors.join(", ")),
    ]
}

/// Returns the different contents of a file of all CPUs.
fn of_all(cpus: &Path, file: &str) -> BTreeSet<String> {
    let entries = fs::read_dir(cpus).into_iter().flatten().flatten();
    let cpus = entries.filter(|entry| {
        let name = entry.file_name();
        let number = name.to_str().and_then(|name| name.strip_prefix("cpu"));
        number.is_some_and(|number| number.parse::<u32>().is_ok())
    });
    cpus.filter_map(|cpu| read(cpu.path().join(file))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the facts of a folder with these files, without those that are empty.
    fn of(files: &[(&str, &str)]) -> Vec<(&'static str, String)> {
        let folder = tempfile::tempdir().unwrap();
        for (file, content) in files {
            let file = folder.path().join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, format!("{content}\n")).unwrap();
        }
        let facts = facts(folder.path()).into_iter();
        facts.filter(|(_, value)| !value.is_empty()).collect()
    }

    fn due(facts: &[(&'static str, &str)]) -> Vec<(&'static str, String)> {
        let facts = facts.iter();
        facts
            .map(|(name, value)| (*name, (*value).to_owned()))
            .collect()
    }

    #[test]
    fn of_an_intel_laptop() {
        let found = of(&[
            ("smt/active", "1"),
            ("cpu0/topology/thread_siblings_list", "0,2"),
            ("cpu1/topology/thread_siblings_list", "1,3"),
            ("cpu2/topology/thread_siblings_list", "0,2"),
            ("cpu3/topology/thread_siblings_list", "1,3"),
            ("intel_pstate/no_turbo", "0"),
            ("cpu0/cpufreq/scaling_governor", "powersave"),
            ("cpu1/cpufreq/scaling_governor", "performance"),
            ("cpufreq/policy0/scaling_governor", "ignored"),
        ]);
        let due = due(&[
            ("hyper_threading", "on"),
            ("thread_siblings", "0,2 1,3"),
            ("turbo", "on"),
            ("governor", "performance, powersave"),
        ]);
        assert_eq!(found, due);
    }

    #[test]
    fn of_a_steady_amd_server() {
        let found = of(&[
            ("smt/active", "0"),
            ("cpu0/topology/thread_siblings_list", "0"),
            ("cpufreq/boost", "0"),
            ("cpu0/cpufreq/scaling_governor", "performance"),
        ]);
        let due = due(&[
            ("hyper_threading", "off"),
            ("turbo", "off"),
            ("governor", "performance"),
        ]);
        assert_eq!(found, due);
    }

    #[test]
    fn of_a_kernel_that_shows_nothing() {
        let due = due(&[("hyper_threading", "not shown"), ("turbo", "not shown")]);
        assert_eq!(of(&[]), due);
    }

    #[test]
    fn siblings_show_hyper_threading_where_its_switch_is_missing() {
        let found = of(&[("cpu0/topology/thread_siblings_list", "0-1")]);
        assert_eq!(found[0].1, "on");
        let found = of(&[("cpu0/topology/thread_siblings_list", "0")]);
        assert_eq!(found[0].1, "off");
    }
}
