//! The catalogue, and the selection of its cases.

use std::path::Path;

use netbench_compat::{BUILT_IN, Case, catalogue};

use super::super::wanted::Wanted;
use crate::{exit::WrongInput, sites_file::sha256, user_file::read_or};

/// The largest size of a catalogue, in bytes.
const MAX_BYTES: u64 = 16 << 20;

pub(super) struct Cases {
    pub(super) name: String,
    pub(super) sha256: String,
    pub(super) all: Vec<Case>,
}

impl Cases {
    /// Reads the cases of a file, or the built-in cases if there is no file.
    pub(super) fn read(file: Option<&Path>) -> anyhow::Result<Self> {
        let (name, text) = read_or(BUILT_IN, file, MAX_BYTES)?;
        let all = catalogue(&text).map_err(|error| WrongInput(format!("{name}: {error}")))?;
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
        Ok(self
            .all
            .iter()
            .filter(|case| wanted.takes(&case.record.name))
            .cloned()
            .collect())
    }
}
