//! The catalogue.

use std::path::Path;

use netbench_compat::{BUILT_IN, Case, catalogue};

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
}
