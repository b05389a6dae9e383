//! The selection of cases by patterns of their names, and lists of cases.

use globset::{Glob, GlobMatcher};
use netbench_model::suggestion;

use crate::{exit::bail_input, output::shown};

/// Returns a line for each case: its name, and what is expected of it.
pub(crate) fn lines<'a>(cases: impl Iterator<Item = (&'a str, String)> + Clone) -> String {
    let width = cases.clone().map(|(name, _)| name.len()).max();
    let width = width.unwrap_or_default();
    cases
        .map(|(name, expected)| format!("{name:width$}  {expected}\n"))
        .collect()
}

/// Patterns of names. Every name matches if there is no pattern.
pub(crate) struct Wanted(Vec<GlobMatcher>);

impl Wanted {
    /// Parses the values of `option`. Each must match one of `names`, which the command `lists`
    /// prints.
    pub(crate) fn of(
        option: &str,
        patterns: &[String],
        names: &[&str],
        lists: &str,
    ) -> anyhow::Result<Self> {
        let mut globs = Vec::new();
        for pattern in patterns {
            let shown = shown(pattern);
            let Ok(glob) = Glob::new(pattern) else {
                bail_input!("{option} \"{shown}\" is no pattern: * and ? stand for any letters");
            };
            let glob = glob.compile_matcher();
            if !names.iter().any(|name| glob.is_match(name)) {
                let meant = suggestion(pattern, names);
                let hint = if meant.starts_with("did you mean") {
                    meant
                } else {
                    format!("`{lists}` lists them")
                };
                let what = option.trim_start_matches('-');
                bail_input!("no {what} matches \"{shown}\"; {hint}");
            }
            globs.push(glob);
        }
        Ok(Self(globs))
    }

    pub(crate) fn takes(&self, name: &str) -> bool {
        self.0.is_empty() || self.0.iter().any(|glob| glob.is_match(name))
    }
}
