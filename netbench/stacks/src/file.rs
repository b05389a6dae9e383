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
    pub(crate) tests: Spanned<Tests>,
    /// The libraries in the worker of each stack without its own list.
    #[serde(default)]
    pub(crate) libraries: Vec<Spanned<String>>,
    #[serde(default)]
    pub(crate) build: BuildEntry,
    /// The way the variant `+fips` is made.
    pub(crate) fips: Option<Spanned<FipsEntry>>,
    /// Licences of libraries, as SPDX expressions. Every other file can use them.
    #[serde(default)]
    pub(crate) licences: BTreeMap<Spanned<String>, String>,
    /// Requirements that only this folder has.
    #[serde(default)]
    pub(crate) needs: BTreeMap<Spanned<String>, Need>,
    pub(crate) stack: Vec<StackEntry>,
    /// Clients for `netbench ship`.
    #[serde(default)]
    pub(crate) ship: Vec<ShipStack>,
}

/// The way the script `test` treats the package.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Tests {
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
    /// Whether one call of Cargo can build the worker with others that have this setting: no feature of a crate changes.
    pub(crate) with_others: bool,
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
    /// Whether a version takes part in comparisons of all stacks, as the newest one of a library whose default is older.
    #[serde(default)]
    pub(crate) compared: bool,
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

impl Content {
    /// Returns whether a build has the requirement of this name.
    fn names(&self, need: &str) -> bool {
        let of_fips = self.fips.iter().flat_map(|fips| &fips.get_ref().needs);
        let mut names = self.build.needs.iter().chain(of_fips);
        names.any(|name| name.get_ref() == need)
    }
}

impl StackEntry {
    /// Returns whether its name has a version.
    pub(crate) fn is_version(&self) -> bool {
        self.name.get_ref().contains('@')
    }

    /// Returns whether it has settings for Cargo.
    fn has_cargo_settings(&self) -> bool {
        !self.environment.is_empty()
            || !self.arguments.is_empty()
            || !self.pins.is_empty()
            || self.openssl.is_some()
    }
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

    /// Refuses keys that have no effect.
    pub(crate) fn check_effects(&self) -> Result<(), FileError> {
        let own = &self.content;
        if let Some(need) = own.needs.keys().find(|need| !own.names(need.get_ref())) {
            return Err(self.wrong(need, "no effect: no `needs` name it"));
        }
        let mut stacks = own.stack.iter();
        if let Some(fips) = &own.fips
            && !stacks.clone().any(|stack| stack.fips)
        {
            return Err(self.wrong(fips, "no effect: no stack has `fips = true`"));
        }
        if let Some(library) = own.libraries.first()
            && stacks.clone().all(|stack| stack.libraries.is_some())
        {
            return Err(self.wrong(library, "no effect: each stack has its own libraries"));
        }
        let build = &own.build;
        if let Some(command) = &build.command {
            if build.own_workspace || build.compiles_c || build.with_others {
                let message = "own-workspace, compiles-c and with-others have no effect beside it";
                return Err(self.wrong(command, message));
            }
            let fips = own.fips.as_ref();
            if let Some(fips) = fips.filter(|fips| fips.get_ref().feature.is_some()) {
                return Err(self.wrong(fips, "a feature has no effect beside [build.command]"));
            }
            if let Some(stack) = stacks.clone().find(|stack| stack.has_cargo_settings()) {
                let message = "environment, arguments, pins and openssl have no effect beside \
                               [build.command]";
                return Err(self.wrong(&stack.name, message));
            }
        }
        if let Some(stack) = stacks.find(|stack| stack.compared && !stack.is_version()) {
            let message = "no effect: only a version needs `compared = true`";
            return Err(self.wrong(&stack.name, message));
        }
        if build.own_workspace && build.with_others {
            let message = "with-others has no effect in a separate workspace";
            return Err(self.wrong(&own.tests, message));
        }
        if build.own_workspace && *own.tests.get_ref() != Tests::AllStacks {
            let message = "no effect: only \"all-stacks\" builds a separate workspace";
            return Err(self.wrong(&own.tests, message));
        }
        Ok(())
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
