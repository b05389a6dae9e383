//! The format of `stack.toml`. docs/ADD-A-STACK.md has an example.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Spanned;

use crate::{CommandRecipe, FileError, Need};

/// A `stack.toml`, as it was written.
#[derive(Debug)]
pub(crate) struct File {
    /// The folder of the stack below `stacks/`.
    pub(crate) folder: String,
    text: String,
    pub(crate) content: Content,
}

/// The content of a `stack.toml`: the stacks of one worker.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Content {
    #[expect(dead_code, reason = "the script `test` reads it")]
    tests: Tests,
    /// The libraries in the worker of each stack without its own list.
    #[serde(default)]
    pub(crate) libraries: Vec<Spanned<String>>,
    #[serde(default)]
    pub(crate) build: BuildEntry,
    /// The way the variant `+fips` is made.
    pub(crate) fips: Option<FipsEntry>,
    /// Licences of libraries, as SPDX expressions. Every other file can use them.
    #[serde(default)]
    pub(crate) licences: BTreeMap<String, String>,
    /// Requirements that only this folder has.
    #[serde(default)]
    pub(crate) needs: BTreeMap<String, Need>,
    #[serde(default)]
    pub(crate) stack: Vec<StackEntry>,
    /// Clients for `netbench ship`.
    #[serde(default)]
    pub(crate) ship: Vec<ShipStack>,
}

/// The way the script `test` treats the package.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Tests {
    /// Built, linted and tested with the rest of the workspace.
    Together,
    /// The same, and the worker is built before all tests, which use it.
    First,
    /// Built, linted and tested alone: its library would be built into other packages' tests, or is not on every
    /// machine.
    Apart,
    /// The same, only with `--all-stacks`: it takes long.
    AllStacks,
}

/// The build of the worker.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct BuildEntry {
    /// Whether the package is a separate Cargo workspace.
    pub(crate) own_workspace: bool,
    /// Whether the build compiles the C of the stack's library.
    pub(crate) compiles_c: bool,
    /// Names of requirements, of the file's own or of `netbench/stacks/needs.toml`.
    pub(crate) needs: Vec<Spanned<String>>,
    /// The program that builds the worker instead of Cargo.
    pub(crate) command: Option<Spanned<CommandRecipe>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FipsEntry {
    /// The feature of the worker's package; none if the worker's environment makes the variant.
    pub(crate) feature: Option<String>,
    #[serde(default)]
    pub(crate) needs: Vec<Spanned<String>>,
}

/// A stack.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StackEntry {
    pub(crate) name: Spanned<String>,
    pub(crate) about: String,
    /// The libraries in its worker, if they are not the file's.
    pub(crate) libraries: Option<Vec<Spanned<String>>>,
    /// Whether it has the variant `+fips`.
    #[serde(default)]
    pub(crate) fips: bool,
    /// Environment variables of its build.
    #[serde(default)]
    pub(crate) environment: BTreeMap<String, String>,
    /// Additional arguments of Cargo.
    #[serde(default)]
    pub(crate) arguments: Vec<String>,
    /// Packages in versions that differ from the lock file's (`rustls@0.23.31`), in the order in which Cargo must
    /// receive them.
    #[serde(default)]
    pub(crate) pins: Vec<Spanned<String>>,
    /// The line of the OpenSSL release that is built before the worker.
    pub(crate) openssl: Option<Spanned<String>>,
}

/// A client that `netbench ship` can build.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShipStack {
    /// The stack's name.
    pub name: String,
    /// A description of the stack's validated (FIPS 140) variant, or of its absence.
    pub fips: String,
    /// Lines of a Cargo.toml.
    pub dependencies: String,
    /// An expression of Rust that makes the connector.
    pub connector: String,
}

impl File {
    /// Reads the `stack.toml` of a folder.
    pub(crate) fn read(folder: &str, text: String) -> Result<Self, FileError> {
        match toml::from_str(&text) {
            Ok(content) => Ok(Self {
                folder: folder.to_owned(),
                text,
                content,
            }),
            Err(error) => {
                let start = error.span().map_or(0, |span| span.start);
                Err(error_at(folder, &text, start, error.message()))
            }
        }
    }

    /// Returns the error of a value.
    pub(crate) fn wrong<T>(&self, value: &Spanned<T>, message: &str) -> FileError {
        error_at(&self.folder, &self.text, value.span().start, message)
    }
}

fn error_at(folder: &str, text: &str, start: usize, message: &str) -> FileError {
    let before = &text.as_bytes()[..start.min(text.len())];
    FileError {
        folder: folder.to_owned(),
        line: 1 + before.iter().filter(|byte| **byte == b'\n').count(),
        message: message.to_owned(),
    }
}
