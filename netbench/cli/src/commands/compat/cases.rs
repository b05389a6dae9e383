//! The catalogue, and the selection of its cases.

use std::path::Path;

use globset::{Glob, GlobMatcher};
use netbench_compat::{BUILT_IN, Case, catalogue};
use netbench_model::suggestion;

use crate::{
    exit::{WrongInput, bail_input},
    output::shown,
    sites_file::sha256,
    user_file::read_text,
};

/// The largest size of a catalogue, in bytes.
const MAX_BYTES: u64 = 16 << 20;

/// The name of the built-in catalogue.
pub(super) const BUILT_IN_NAME: &str = "built-in";

pub(super) struct Cases {
    pub(super) name: String,
    pub(super) sha256: String,
    pub(super) all: Vec<Case>,
}

impl Cases {
    /// Reads the cases of a file, or the built-in cases if there is no file.
    pub(super) fn read(file: Option<&Path>) -> anyhow::Result<Self> {
        let name = file.map_or_else(
            || BUILT_IN_NAME.to_owned(),
            |path| path.display().to_string(),
        );
        let wrong = |what: &dyn std::fmt::Display| WrongInput(format!("{name}: {what}"));
        let text = match file {
            None => BUILT_IN.to_owned(),
            Some(path) => read_text(path, MAX_BYTES).map_err(|error| wrong(&error))?,
        };
        let all = catalogue(&text).map_err(|error| wrong(&error))?;
        Ok(Self {
            sha256: sha256(text.as_bytes()),
            all,
            name,
        })
    }

    /// Returns the cases that match any of the patterns, or all cases if there is no pattern.
    pub(super) fn matching(&self, patterns: &[String]) -> anyhow::Result<Vec<Case>> {
        let names: Vec<&str> = self.all.iter().map(|case| &*case.record.name).collect();
        let wanted = Wanted::of("--case", patterns, &names, "netbench compat --list")?;
        let is_wanted = |case: &&Case| wanted.takes(&case.record.name);
        Ok(self.all.iter().filter(is_wanted).cloned().collect())
    }
}

/// Patterns of names. Every name matches if there is no pattern.
pub(super) struct Wanted(Vec<GlobMatcher>);

impl Wanted {
    /// Parses the values of `option`. Each must match one of `names`, which the command `lists`
    /// prints.
    pub(super) fn of(
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

    pub(super) fn takes(&self, name: &str) -> bool {
        self.0.is_empty() || self.0.iter().any(|glob| glob.is_match(name))
    }
}
