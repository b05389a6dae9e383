use std::{
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use crate::{BogoError, Runner, command::Tool};

/// A library of the system with which a shim is linked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkedLibrary {
    /// The version, as the library reports it.
    pub version: String,
    /// The files of the library.
    pub files: Vec<PathBuf>,
}

const SHIM: Tool = Tool {
    name: "the shim",
    needed_for: "its library's version",
    hint: "netbench bogo builds it",
};

/// Asks a shim for the library with which it is linked (`-which-library`).
///
/// # Errors
/// Returns an error if the shim does not run, or prints no version.
pub fn linked_library(runner: &Runner, shim: &Path) -> Result<LinkedLibrary, BogoError> {
    let mut command = Command::new(shim);
    command.arg("-which-library");
    let step = "asking a shim for its library";
    let said = runner.run_well(&mut command, SHIM, step, Duration::from_secs(30))?;
    let text = String::from_utf8_lossy(&said.out);
    let mut lines = text.lines();
    let version = lines.next().filter(|line| !line.is_empty());
    let version = version.ok_or_else(|| BogoError::bad(shim, "it does not name its library"))?;
    Ok(LinkedLibrary {
        version: version.to_owned(),
        files: lines.map(PathBuf::from).collect(),
    })
}
