//! The selection of scenarios: those of a part or a preset, or those whose names match.

use std::collections::HashMap;

use anyhow::Context;
use globset::{Glob, GlobMatcher};
use netbench_model::{Part, Preset, Scenario, catalogue};
use serde::Deserialize;

use super::plan::{PartArg, Suite};
use crate::{cost::cores, exit::bail_input, output::shown};

/// The scenarios that are measured by default.
const USUAL: &str = include_str!("../../../../catalogue/scenarios.toml");

/// The number of similar names that are suggested for a wrong name.
const NEAREST: usize = 3;

/// The contents of [`USUAL`]: patterns of scenarios' names.
#[derive(Deserialize)]
struct Usual {
    parts: HashMap<String, Vec<String>>,
    presets: HashMap<String, Vec<String>>,
    /// Names of stacks, by preset.
    stacks: HashMap<String, Vec<String>>,
}

/// Returns the stacks of a preset, if it has its own.
pub(super) fn stacks(preset: Preset) -> anyhow::Result<Option<Vec<String>>> {
    Ok(Usual::read()?.stacks.remove(preset.name()))
}

/// Returns the scenarios of the options with their timing, in the order of the catalogue or of the preset.
pub(super) fn scenarios(options: &Suite) -> anyhow::Result<Vec<Scenario>> {
    let scenarios = chosen(options)?.into_iter();
    let scenarios: Vec<Scenario> = scenarios
        .map(|scenario| scenario.with_timing(options.timing))
        .collect();
    let timing = options.timing;
    if scenarios.iter().all(|scenario| scenario.timing != timing) {
        bail_input!(
            "--timing {timing}: only handshakes and data are timed so, and no such case is chosen"
        );
    }
    Ok(scenarios)
}

fn chosen(options: &Suite) -> anyhow::Result<Vec<Scenario>> {
    let all = Named::all();
    if let Some(preset) = options.preset {
        return all.of(&Usual::read()?.presets, preset.name());
    }
    let mut parts = Part::ALL.to_vec();
    if !options.parts.contains(&PartArg::All) {
        parts.retain(|part| options.parts.contains(&PartArg::One(*part)));
    }
    if !options.cases.is_empty() {
        return all.matching(&options.cases, &parts);
    }
    if parts.is_empty() {
        parts = vec![Part::Bulk, Part::Handshake];
    }
    let usual = Usual::read()?.parts;
    let scenarios = parts.iter().map(|part| all.of(&usual, part.name()));
    Ok(scenarios.collect::<anyhow::Result<Vec<_>>>()?.concat())
}

impl Usual {
    fn read() -> anyhow::Result<Self> {
        toml::from_str(USUAL).context("catalogue/scenarios.toml")
    }
}

/// Every scenario with its name.
struct Named(Vec<(String, Scenario)>);

impl Named {
    fn all() -> Self {
        let all = catalogue(cores()).into_iter();
        Self(
            all.map(|scenario| (scenario.to_string(), scenario))
                .collect(),
        )
    }

    /// Returns the scenarios of a part or a preset, in the order of its patterns.
    fn of(
        &self,
        usual: &HashMap<String, Vec<String>>,
        name: &str,
    ) -> anyhow::Result<Vec<Scenario>> {
        let mut scenarios = Vec::new();
        for pattern in usual.get(name).context("not in catalogue/scenarios.toml")? {
            let glob = Glob::new(pattern)?.compile_matcher();
            let found = self.0.iter().filter(|(name, _)| glob.is_match(name));
            for (_, scenario) in found {
                if !scenarios.contains(scenario) {
                    scenarios.push(*scenario);
                }
            }
        }
        Ok(scenarios)
    }

    /// Returns the scenarios of `parts`, or of all parts, that a `--case` names.
    fn matching(&self, patterns: &[String], parts: &[Part]) -> anyhow::Result<Vec<Scenario>> {
        let all = self.0.iter();
        let all: Vec<_> = all
            .filter(|(_, scenario)| parts.is_empty() || parts.contains(&scenario.part()))
            .collect();
        let mut chosen = vec![false; all.len()];
        for pattern in patterns {
            let shown = shown(pattern);
            let glob = match Glob::new(pattern) {
                Ok(glob) => glob.compile_matcher(),
                Err(error) => bail_input!("--case {shown}: {}", error.kind()),
            };
            // Counting instructions takes a hundred times as long, so that these scenarios need a
            // request by name or part.
            let counts = !parts.is_empty() || pattern.starts_with("instructions");
            let mut any = false;
            for (chosen, (name, scenario)) in chosen.iter_mut().zip(&all) {
                if (counts || !scenario.counted) && matches(&glob, name, scenario) {
                    *chosen = true;
                    any = true;
                }
            }
            if !any {
                let names = all.iter().map(|(name, _)| name.as_str());
                let nearest = nearest(pattern, names).join(", ");
                bail_input!("--case {shown}: no case has such a name; the nearest are {nearest}");
            }
        }
        let chosen = all.iter().zip(chosen).filter(|(_, chosen)| *chosen);
        Ok(chosen.map(|((_, scenario), _)| *scenario).collect())
    }
}

/// Returns whether a glob matches the name of a scenario or of one of its cases: a scenario is
/// always measured as a whole.
fn matches(glob: &GlobMatcher, name: &str, scenario: &Scenario) -> bool {
    glob.is_match(name) || scenario.cases().any(|case| glob.is_match(case.to_string()))
}

fn nearest<'a>(pattern: &str, names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    // No name is longer, and the time of the similarity grows with the length.
    const LONGEST: usize = 100;
    let bare = pattern.chars().filter(|c| !"*?[]{}".contains(*c));
    let bare: String = bare.take(LONGEST).collect();
    let mut names: Vec<(f64, &str)> = names
        .map(|name| (strsim::jaro_winkler(&bare, name), name))
        .collect();
    names.sort_by(|(a, one), (b, other)| b.total_cmp(a).then(one.cmp(other)));
    let nearest = names.into_iter().take(NEAREST);
    nearest.map(|(_, name)| name).collect()
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, fs, path::Path};

    use netbench_model::StackName;
    use netbench_report::PublishedTable;

    use super::*;

    #[test]
    fn every_pattern_of_the_catalogue_finds_scenarios() {
        let (all, usual) = (Named::all(), Usual::read().unwrap());
        for patterns in usual.parts.values().chain(usual.presets.values()) {
            for pattern in patterns {
                let glob = Glob::new(pattern).unwrap().compile_matcher();
                let found = all.0.iter().any(|(name, _)| glob.is_match(name));
                assert!(found, "{pattern}");
            }
        }
        for part in Part::ALL {
            let scenarios = all.of(&usual.parts, part.name()).unwrap();
            assert!(scenarios.iter().all(|scenario| scenario.part() == *part));
        }
        for preset in Preset::ALL {
            all.of(&usual.presets, preset.name()).unwrap();
        }
        for (preset, stacks) in &usual.stacks {
            assert!(usual.presets.contains_key(preset), "{preset}");
            for stack in stacks {
                crate::workers::known(stack).unwrap();
            }
        }
        let published = all.of(&usual.presets, "rustls-vs-openssl").unwrap();
        let rows = published.iter().map(|scenario| scenario.measures().len());
        assert_eq!(rows.sum::<usize>(), 26);
    }

    #[test]
    fn published_tables_are_of_cases_and_stacks_of_their_preset() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../catalogue/published");
        let (all, usual) = (Named::all(), Usual::read().unwrap());
        let mut tables = 0;
        for file in fs::read_dir(folder).unwrap() {
            let file = file.unwrap().path();
            let preset = file.file_stem().unwrap().to_str().unwrap();
            let table: PublishedTable =
                toml::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
            let scenarios = all.of(&usual.presets, preset).unwrap();
            let cases = scenarios.iter().flat_map(Scenario::cases);
            let cases: BTreeSet<String> = cases.map(|case| case.to_string()).collect();
            for row in &table.rows {
                assert_eq!(row.figures.len(), table.columns.len(), "{}", row.case);
                assert!(cases.contains(&row.case), "{preset}: {}", row.case);
            }
            let of_preset = usual.stacks.get(preset);
            assert_eq!(table.stacks.len(), table.columns.len(), "{preset}");
            for stacks in table.conditions {
                assert_eq!(stacks.len(), table.columns.len(), "{preset}");
                for stack in stacks {
                    crate::workers::known(stack.as_str()).unwrap();
                }
            }
            for stack in table.stacks {
                crate::workers::known(stack.as_str()).unwrap();
                if let Some(of_preset) = of_preset {
                    assert!(of_preset.contains(&stack.to_string()), "{preset}: {stack}");
                }
            }
            tables += 1;
        }
        assert_eq!(tables, 10);
    }

    /// Returns the stacks with conditions of the publication with which a preset is compared.
    fn stacks_of_publication(preset: &str) -> Vec<StackName> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../catalogue/published");
        match fs::read_to_string(folder.join(preset).with_extension("toml")) {
            Ok(text) => {
                let table: PublishedTable = toml::from_str(&text).unwrap();
                table.conditions.concat()
            }
            Err(_) => Vec::new(),
        }
    }

    /// A published run of a preset without the stack that the preset is about, or the version of it in the publication, would
    /// answer another question.
    #[test]
    fn published_runs_of_presets_have_the_stack_that_they_are_about() {
        let results = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../results");
        let usual = Usual::read().unwrap();
        let mut published = BTreeSet::new();
        for folder in fs::read_dir(results).unwrap() {
            let Ok(run) = fs::read(folder.unwrap().path().join("run.json")) else {
                continue;
            };
            let run: serde_json::Value = serde_json::from_slice(&run).unwrap();
            let Some(preset) = run["plan"]["preset"].as_str() else {
                continue;
            };
            let Some(subject) = usual.stacks.get(preset) else {
                continue;
            };
            let stacks = run["plan"]["stacks"].as_array().unwrap();
            let versions = stacks_of_publication(preset);
            assert!(
                stacks.iter().any(|stack| *stack == subject[0])
                    || versions.iter().any(|version| stacks[0] == version.as_str()),
                "the published run of {preset} has no {}",
                subject[0]
            );
            published.insert(preset.to_owned());
        }
        assert!(published.contains("s2n") && published.contains("bertie"));
    }
}
