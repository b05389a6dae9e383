//! The settings of a processor that make times wander.

use std::collections::BTreeMap;

use crate::Environment;

/// The value of a fact that the kernel does not show.
pub const NOT_SHOWN: &str = "not shown";

impl Environment {
    /// The fact of hyper-threading: `on`, `off` or [`NOT_SHOWN`].
    pub const HYPER_THREADING: &str = "hyper_threading";

    /// The fact of the CPUs that share a core, such as `0,4 1,5`. Absent if none do, or if they are not shown.
    pub const THREAD_SIBLINGS: &str = "thread_siblings";

    /// The fact of a clock above the nominal one: `on`, `off` or [`NOT_SHOWN`].
    pub const TURBO: &str = "turbo";

    /// The fact of the frequency governors of all CPUs. Absent if none are shown.
    pub const GOVERNOR: &str = "governor";

    /// Returns warnings about the settings that make times wander, and the remedy of each. `core` is the CPU that the measured
    /// processes run on, if it is one.
    pub fn of_processor(&self, core: Option<u32>) -> Vec<String> {
        let mut warnings = Vec::new();
        if self.fact(Self::HYPER_THREADING) == Some("on") {
            let siblings = core.and_then(|core| self.siblings(core));
            let whose = match (core, siblings) {
                (Some(core), Some(siblings)) => {
                    format!("CPU {core}, on which workers run, shares its core with CPU {siblings}")
                }
                _ => "two CPUs share a core".to_owned(),
            };
            warnings.push(format!(
                "Hyper-threading is on: {whose}, and work on one slows the other. `echo off > /sys/devices/system/cpu/smt/control` \
                 turns it off."
            ));
        }
        if self.fact(Self::TURBO) == Some("on") {
            warnings.push(
                "Turbo is on: the clock depends on the temperature and on the other cores' work. Write 1 to intel_pstate/no_turbo \
                 or 0 to cpufreq/boost in /sys/devices/system/cpu to turn it off."
                    .to_owned(),
            );
        }
        let governor = (self.fact(Self::GOVERNOR)).filter(|governor| *governor != "performance");
        warnings.extend(governor.map(|governor| {
            format!(
                "The frequency governor is {governor}: the clock follows the load. `cpupower frequency-set -g performance` keeps it \
                 high."
            )
        }));
        warnings
    }

    fn fact(&self, name: &str) -> Option<&str> {
        self.facts.get(name).map(String::as_str)
    }

    /// Returns the other CPUs of a CPU's core.
    fn siblings(&self, core: u32) -> Option<String> {
        let mut groups = self.fact(Self::THREAD_SIBLINGS)?.split(' ').map(cpus);
        let group = groups.find(|group| group.contains(&core))?;
        let others = group.iter().filter(|cpu| **cpu != core);
        Some(
            others
                .map(ToString::to_string)
                .collect::<Vec<_>>()
                .join(", "),
        )
    }
}

/// Returns whether the kernel of this machine, read by a version that looks for them, shows none of the settings. Without a
/// hypervisor, a machine without them has nothing to hide.
pub fn hides_its_processor(facts: &BTreeMap<String, String>) -> bool {
    (facts.get("virtual_machine")).is_some_and(|is_virtual| is_virtual == "yes")
        && (facts.get(Environment::TURBO)).is_some_and(|turbo| turbo == NOT_SHOWN)
        && !facts.contains_key(Environment::GOVERNOR)
}

/// Returns the CPUs of a list of the kernel, such as `0,4` or `0-1`.
fn cpus(list: &str) -> Vec<u32> {
    let parts = list.split(',').flat_map(|part| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        match (first.parse(), last.parse()) {
            // No processor has more CPUs than this.
            (Ok(first), Ok(last)) if last < 1 << 16 => (first..=last).collect(),
            _ => Vec::new(),
        }
    });
    parts.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(facts: &[(&str, &str)]) -> Environment {
        let facts = facts.iter();
        Environment {
            facts: facts
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect(),
            ..Environment::default()
        }
    }

    #[test]
    fn each_setting_that_makes_times_wander_has_a_warning_and_no_other() {
        let steady = environment(&[
            ("hyper_threading", "off"),
            ("turbo", "off"),
            ("governor", "performance"),
        ]);
        assert_eq!(steady.of_processor(Some(1)), [""; 0]);
        assert_eq!(environment(&[]).of_processor(None), [""; 0]);
        let wandering = environment(&[
            ("hyper_threading", "on"),
            ("thread_siblings", "0,4 1,5 2-3"),
            ("turbo", "on"),
            ("governor", "performance, powersave"),
        ]);
        let found = wandering.of_processor(Some(1));
        let due = [
            "CPU 1, on which workers run, shares its core with CPU 5",
            "Turbo is on",
            "performance, powersave",
        ];
        assert_eq!(found.len(), due.len());
        for (found, due) in found.iter().zip(due) {
            assert!(found.contains(due), "{found}");
        }
        assert!(wandering.of_processor(Some(2))[0].contains("with CPU 3,"));
        assert!(wandering.of_processor(None)[0].contains("two CPUs share a core"));
    }

    #[test]
    fn only_a_virtual_machine_that_was_looked_at_hides_its_processor() {
        let is_virtual = ("virtual_machine", "yes");
        for (facts, hides) in [
            (&[is_virtual, ("turbo", "not shown")][..], true),
            (&[("virtual_machine", "no"), ("turbo", "not shown")], false),
            (&[is_virtual, ("turbo", "on")], false),
            // Earlier versions did not look.
            (&[is_virtual], false),
        ] {
            let found = hides_its_processor(&environment(facts).facts);
            assert_eq!(found, hides, "{facts:?}");
        }
    }
}
