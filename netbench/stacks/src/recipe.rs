//! The way in which a worker is built.

use std::{collections::BTreeMap, env, path::Path, process::Command};

use openssl_src::Release;
use serde::Deserialize;

use crate::{Need, needs::has_all};

/// The place of the worker's file in a command.
pub(crate) const PROGRAM: &str = "{program}";

/// The build of a worker from netbench's own source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Build {
    /// The folder of the worker's source, relative to the top of the source.
    pub source: String,
    /// The program that builds it.
    pub recipe: Recipe,
    /// The tools that the build needs.
    pub needs: Vec<Need>,
    /// Whether the build compiles the C of the stack's library.
    pub compiles_c: bool,
    /// The separate folder of this build, under the target folder and beside the command; empty for a usual build. A
    /// build with different settings must not replace the usual one.
    pub folder: String,
}

/// The program that builds a worker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Recipe {
    /// Cargo.
    Cargo(CargoRecipe),
    /// Another program.
    Command(CommandRecipe),
}

/// A build with Cargo.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CargoRecipe {
    /// The package.
    pub package: String,
    /// Whether the package is a separate Cargo workspace.
    pub own_workspace: bool,
    /// Whether one call of Cargo can build the package with others that have this setting.
    pub with_others: bool,
    /// Environment variables of the build.
    pub environment: BTreeMap<String, String>,
    /// Additional arguments of Cargo.
    pub arguments: Vec<String>,
    /// Packages in versions that differ from the lock file's, in the order in which Cargo must receive them.
    pub pins: Vec<Pin>,
    /// The release of OpenSSL that is built before the worker.
    pub openssl: Option<Release>,
}

/// A build by another program, which makes one file.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct CommandRecipe {
    /// The program and its arguments; `{program}` is the worker's file.
    words: Vec<String>,
    #[serde(default)]
    environment: BTreeMap<String, String>,
    /// Environment variables that do not replace the user's.
    #[serde(default)]
    default_environment: BTreeMap<String, String>,
    #[serde(default)]
    advice: Vec<Advice>,
}

/// Advice on a failed build, recognised by the output.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Advice {
    /// Texts of which the output has one.
    words: Vec<String>,
    text: String,
}

/// A package of crates.io, pinned to a version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pin {
    /// Its name.
    pub package: String,
    /// Its version.
    pub version: String,
}

impl Pin {
    /// Returns whether it holds the package to this version, or to one of this line.
    pub(crate) fn is(&self, package: &str, version: &str) -> bool {
        let rest = self.version.strip_prefix(version);
        self.package == package && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    }
}

impl Build {
    /// Returns the usual build of a package of the common workspace.
    pub(crate) fn cargo(package: &str, source: &str) -> Self {
        Self {
            source: source.to_owned(),
            recipe: Recipe::Cargo(CargoRecipe {
                package: package.to_owned(),
                ..CargoRecipe::default()
            }),
            needs: Vec::new(),
            compiles_c: false,
            folder: String::new(),
        }
    }

    /// Returns whether Cargo builds the worker, which is then a program in Rust.
    pub fn is_cargo(&self) -> bool {
        matches!(self.recipe, Recipe::Cargo(_))
    }

    /// Refuses to build `name` if a tool is missing.
    ///
    /// # Errors
    /// Returns an error with the missing tools.
    pub fn has_needs(&self, name: &str) -> Result<(), crate::BuildError> {
        has_all(name, &self.needs)
    }
}

impl CommandRecipe {
    /// Returns the word of the command that begins with `start`.
    pub fn word(&self, start: &str) -> Option<&str> {
        let mut words = self.words.iter().map(String::as_str);
        words.find(|word| word.starts_with(start))
    }

    /// Returns the beginning of the command, as a user would call it.
    pub(crate) fn name(&self) -> String {
        let words = self.words.iter().take(2).map(String::as_str);
        words.collect::<Vec<_>>().join(" ")
    }

    /// Returns the command that builds the source in `folder` to `program`.
    pub fn command(&self, folder: &Path, program: &Path) -> Command {
        let words = self.words.iter().map(|word| match word.as_str() {
            PROGRAM => program.as_os_str().to_owned(),
            word => word.into(),
        });
        let words: Vec<_> = words.collect();
        let mut command = Command::new(&words[0]);
        command
            .args(&words[1..])
            .envs(&self.environment)
            .current_dir(folder);
        let defaults = self.default_environment.iter();
        command.envs(defaults.filter(|(name, _)| env::var_os(name).is_none()));
        command
    }

    /// Returns advice on a failed build, if its output shows the cause.
    pub(crate) fn advice(&self, said: &str) -> Option<&str> {
        let advice = self.advice.iter().find(|advice| {
            let mut words = advice.words.iter();
            words.any(|words| said.contains(words.as_str()))
        });
        advice.map(|advice| advice.text.as_str())
    }
}
