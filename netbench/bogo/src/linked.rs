use std::{
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use crate::{
    BogoError, Runner,
    command::{Tool, run_well},
};

/// A library of the system's that a shim is linked with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkedLibrary {
    /// Its version, in its own words.
    pub version: String,
    /// The files that it is in.
    pub files: Vec<PathBuf>,
}

const SHIM: Tool = Tool {
    name: "the shim",
    needed_for: "its library's version",
    hint: "netbench bogo builds it",
};

/// Asks a shim which library it is linked with (`-which-library`).
///
/// # Errors
/// When it does not run, or says nothing.
pub fn linked_library(runner: &Runner, shim: &Path) -> Result<LinkedLibrary, BogoError> {
    let mut command = Command::new(shim);
    command.arg("-which-library");
    let step = "asking a shim for its library";
    let limit = Duration::from_secs(30);
    let said = run_well(&mut command, SHIM, step, limit, &runner.stop)?;
    let text = String::from_utf8_lossy(&said.out);
    let mut lines = text.lines();
    let version = lines.next().filter(|line| !line.is_empty());
    let version = version.ok_or_else(|| BogoError::bad(shim, "it does not name its library"))?;
    Ok(LinkedLibrary {
        version: version.to_owned(),
        files: lines.map(PathBuf::from).collect(),
    })
}
