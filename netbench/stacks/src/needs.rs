//! The tools that a build needs besides Cargo, checked before the build: some builds would fail only after many minutes.

use std::process::{Command, Stdio};

use serde::Deserialize;

use crate::{BuildError, in_path};

/// A requirement of a stack's build.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Need {
    /// The tool or library, as a message names it.
    pub what: String,
    /// The packages in Debian and Ubuntu that provide the requirement.
    pub packages: String,
    /// A command of a shell that succeeds if the requirement is installed.
    check: String,
}

impl Need {
    fn is_missing(&self) -> bool {
        // PATH need not have a shell.
        let status = Command::new("/bin/sh")
            .args(["-c", &self.check])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        !status.is_ok_and(|status| status.success())
    }
}

/// Refuses to build `name` if a requirement is missing.
pub(crate) fn has_all<'a>(
    name: &str,
    needs: impl IntoIterator<Item = &'a Need>,
) -> Result<(), BuildError> {
    let missing: Vec<&Need> = needs.into_iter().filter(|need| need.is_missing()).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let tools: Vec<_> = missing.iter().map(|need| need.what.as_str()).collect();
    let packages: Vec<_> = missing.iter().map(|need| need.packages.as_str()).collect();
    Err(BuildError::Needs {
        stack: name.to_owned(),
        tools: tools.join(", "),
        packages: packages.join(" "),
    })
}

/// Refuses to build with missing compilers. Each compiler is the value of a variable, with its flags.
pub(crate) fn has_compilers(compilers: &[(&str, String)]) -> Result<(), BuildError> {
    for (_, call) in compilers {
        let program = call.split(' ').next().unwrap_or(call);
        if in_path(program).is_none() {
            // Clang's package contains both of its compilers.
            let package = program.replace("clang++", "clang");
            return Err(BuildError::Compiler(program.to_owned(), package));
        }
    }
    Ok(())
}
