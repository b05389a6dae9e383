//! All stacks, from the files that the command contains and from the source tree.

use std::{
    collections::BTreeMap,
    fs,
    io::ErrorKind::{NotADirectory, NotFound},
    path::Path,
    sync::{LazyLock, OnceLock},
};

use netbench_tls::Variants;
use openssl_src::{RELEASES, Release};
use toml::Spanned;

use crate::{
    FileError, Need, ShipStack, SourceTree,
    file::{File, StackEntry},
    recipe::{Build, CargoRecipe, CommandRecipe, PROGRAM, Pin, Recipe},
};

/// The files `stacks/*/stack.toml`, each with its folder.
const EMBEDDED: &[(&str, &str)] = &include!(concat!(env!("OUT_DIR"), "/stack_files.rs"));

/// The requirements that every file can name.
pub(crate) static COMMON_NEEDS: LazyLock<BTreeMap<String, Need>> = LazyLock::new(|| {
    toml::from_str(include_str!("../needs.toml")).expect("the table is part of this source")
});

/// The environment variable of a build that names the package of whose version the worker is.
const VERSION_OF: &str = "NETBENCH_VERSION_OF";

/// A stack for which netbench has a worker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stack {
    /// Its name.
    pub name: String,
    /// A description of one line.
    pub about: String,
    /// The worker's executable.
    pub executable: String,
    /// Whether comparisons of all stacks include it: each stack, and the versions that are newer than it.
    pub is_compared: bool,
    /// The build of the worker.
    pub build: Build,
    /// The way its variant `+fips` is made, if it has one.
    pub fips: Option<Fips>,
    /// The TLS library and the cryptography with which the worker is linked.
    pub licences: Vec<Licence>,
}

impl Stack {
    /// Returns the version, if the stack is one of the library `base`, and not a variant of such a version.
    pub fn version_of(&self, base: &str) -> Option<&str> {
        let version = self.name.strip_prefix(base)?.strip_prefix('@')?;
        (!version.contains('+')).then_some(version)
    }
}

/// The way the variant `+fips` of a stack is made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fips {
    /// The feature of the worker's package; `None` if the worker's environment makes the variant.
    pub feature: Option<String>,
    /// The tools that the build of the variant needs besides the usual ones.
    pub needs: Vec<Need>,
}

/// A library with its licence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Licence {
    /// The library: a package of crates.io, or a name that no package can have.
    pub library: String,
    /// The licence, as an SPDX expression.
    pub spdx: String,
}

/// The stacks, and the clients of `netbench ship`.
#[derive(Debug)]
struct Registry {
    stacks: Vec<Stack>,
    ship: Vec<ShipStack>,
}

/// Returns the stacks for which netbench's own source has workers, by name.
///
/// # Errors
/// Returns an error if a `stack.toml` of the source tree is wrong.
pub fn stacks() -> Result<&'static [Stack], FileError> {
    Ok(&registry()?.stacks)
}

/// Returns the stack of this name.
///
/// # Errors
/// Returns an error if a `stack.toml` of the source tree is wrong.
pub fn stack(name: &str) -> Result<Option<&'static Stack>, FileError> {
    Ok(stacks()?.iter().find(|stack| stack.name == name))
}

/// Returns the command that builds the worker of `stack`, if it is not Cargo.
pub fn command_recipe(name: &str) -> Option<&'static CommandRecipe> {
    match &stack(name).ok()??.build.recipe {
        Recipe::Command(recipe) => Some(recipe),
        Recipe::Cargo(_) => None,
    }
}

/// Returns the stacks that clients can be built with.
///
/// # Errors
/// Returns an error if a `stack.toml` of the source tree is wrong.
pub fn ship_stacks() -> Result<&'static [ShipStack], FileError> {
    Ok(&registry()?.ship)
}

/// Returns the registry. The files of the source tree, from which workers are built, precede those that the command
/// contains.
fn registry() -> Result<&'static Registry, FileError> {
    static REGISTRY: OnceLock<Result<Registry, FileError>> = OnceLock::new();
    let registry = REGISTRY.get_or_init(|| {
        let embedded = EMBEDDED.iter();
        let mut texts: BTreeMap<String, String> = embedded
            .map(|(folder, text)| ((*folder).to_owned(), (*text).to_owned()))
            .collect();
        if let Some(tree) = SourceTree::find() {
            texts.extend(texts_in(&tree.root().join("stacks"))?);
        }
        Registry::of(texts)
    });
    registry.as_ref().map_err(Clone::clone)
}

/// Returns the text of each `stack.toml` below `folder`, with the name of its folder.
fn texts_in(folder: &Path) -> Result<Vec<(String, String)>, FileError> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut texts = Vec::new();
    for entry in entries {
        let folder = entry.file_name().to_string_lossy().into_owned();
        match fs::read_to_string(entry.path().join("stack.toml")) {
            Ok(text) => texts.push((folder, text)),
            Err(error) if matches!(error.kind(), NotFound | NotADirectory) => {}
            Err(error) => {
                return Err(FileError {
                    folder,
                    line: 1,
                    message: format!("cannot be read: {error}"),
                });
            }
        }
    }
    Ok(texts)
}

impl Registry {
    fn of(texts: BTreeMap<String, String>) -> Result<Self, FileError> {
        let files = texts
            .into_iter()
            .map(|(folder, text)| File::read(&folder, text))
            .collect::<Result<Vec<_>, _>>()?;
        let licences: BTreeMap<&str, &str> = files
            .iter()
            .flat_map(|file| &file.content.licences)
            .map(|(library, spdx)| (library.get_ref().as_str(), spdx.as_str()))
            .collect();
        let (mut stacks, mut folders) = (Vec::new(), BTreeMap::new());
        for file in &files {
            file.check_effects()?;
            for entry in &file.content.stack {
                let stack = file.stack(entry, &licences)?;
                if let Some(other) = folders.insert(entry.name.get_ref(), &file.folder) {
                    let message = format!("stacks/{other}/stack.toml has a stack of this name too");
                    return Err(file.wrong(&entry.name, &message));
                }
                stacks.push(stack);
            }
        }
        for file in &files {
            let mut libraries = file.content.licences.keys();
            if let Some(library) =
                libraries.find(|library| !has_library(&stacks, library.get_ref()))
            {
                return Err(file.wrong(library, "no effect: no worker has this library"));
            }
        }
        stacks.sort_by(|a, b| order(&a.name).cmp(&order(&b.name)));
        let ship = files.into_iter().flat_map(|file| file.content.ship);
        Ok(Self {
            stacks,
            ship: ship.collect(),
        })
    }
}

fn has_library(stacks: &[Stack], library: &str) -> bool {
    let mut licences = stacks.iter().flat_map(|stack| &stack.licences);
    licences.any(|licence| licence.library == library)
}

/// Returns the sort key of stacks: versions are sorted by their numbers.
fn order(stack: &str) -> (&str, Vec<u32>) {
    let (base, version) = stack.split_once('@').unwrap_or((stack, ""));
    let numbers = version.split(|c: char| !c.is_ascii_digit());
    let numbers = numbers.filter_map(|number| number.parse().ok());
    (base, numbers.collect())
}

impl File {
    fn stack(
        &self,
        entry: &StackEntry,
        licences: &BTreeMap<&str, &str>,
    ) -> Result<Stack, FileError> {
        let name = entry.name.get_ref();
        if !Variants::split(name).is_ok_and(|(base, _)| base == *name) || !is_plain(name) {
            return Err(self.wrong(&entry.name, "not a name of a stack"));
        }
        let own = &self.content;
        let fips = match (&own.fips, entry.fips) {
            (_, false) => None,
            (None, true) => return Err(self.wrong(&entry.name, "there is no [fips]")),
            (Some(fips), true) => Some(Fips {
                feature: fips.get_ref().feature.clone(),
                needs: self.needs(&fips.get_ref().needs)?,
            }),
        };
        let libraries = entry.libraries.as_ref().unwrap_or(&own.libraries);
        let licences = libraries.iter().map(|library| {
            let name = library.get_ref();
            let spdx = own.licences.get(name.as_str()).map(String::as_str);
            match spdx.or_else(|| licences.get(name.as_str()).copied()) {
                Some(spdx) => Ok(Licence {
                    library: name.clone(),
                    spdx: spdx.to_owned(),
                }),
                None => Err(self.wrong(library, "no [licences] have the licence of this library")),
            }
        });
        Ok(Stack {
            name: name.clone(),
            about: entry.about.clone(),
            executable: format!("netbench-worker-{}", self.folder),
            is_compared: entry.compared || !entry.is_version(),
            build: self.build(entry)?,
            fips,
            licences: licences.collect::<Result<_, _>>()?,
        })
    }

    fn build(&self, entry: &StackEntry) -> Result<Build, FileError> {
        let build = &self.content.build;
        let mut folder = String::new();
        let recipe = match &build.command {
            Some(command) if command.get_ref().word(PROGRAM).is_none() => {
                return Err(self.wrong(command, "no word is {program}, the worker's file"));
            }
            Some(command) => Recipe::Command(command.get_ref().clone()),
            None => {
                let recipe = self.cargo(entry)?;
                if !recipe.environment.is_empty() || !recipe.arguments.is_empty() {
                    let name = entry.name.get_ref();
                    folder = match name.split_once('+') {
                        // One worker has the version and its variants.
                        Some((version, _)) if entry.is_version() => version.to_owned(),
                        Some((_, variant)) => variant.to_owned(),
                        None => name.clone(),
                    };
                }
                Recipe::Cargo(recipe)
            }
        };
        Ok(Build {
            source: format!("stacks/{}", self.folder),
            recipe,
            needs: self.needs(&build.needs)?,
            compiles_c: build.compiles_c,
            folder,
        })
    }

    fn cargo(&self, entry: &StackEntry) -> Result<CargoRecipe, FileError> {
        let mut environment = entry.environment.clone();
        let pins = entry.pins.iter().map(|pin| {
            let Some((package, version)) = pin.get_ref().split_once('@') else {
                return Err(self.wrong(pin, "not PACKAGE@VERSION"));
            };
            Ok(Pin {
                package: package.to_owned(),
                version: version.to_owned(),
            })
        });
        let pins: Vec<Pin> = pins.collect::<Result<_, _>>()?;
        if !pins.is_empty() {
            let Some((package, version)) = entry.name.get_ref().split_once('@') else {
                return Err(self.wrong(&entry.name, "pins are for a PACKAGE@VERSION"));
            };
            if !pins.iter().any(|pin| pin.is(package, version)) {
                return Err(self.wrong(&entry.name, "no pin has the version of the name"));
            }
            environment.insert(VERSION_OF.to_owned(), package.to_owned());
        }
        let openssl = entry.openssl.as_ref().map(|line| {
            let mut releases = RELEASES.into_iter();
            let release = releases.find(|release| release.line == line.get_ref());
            release.ok_or_else(|| self.wrong(line, "netbench/openssl-src has no such release"))
        });
        let openssl = openssl.transpose()?;
        environment
            .extend(openssl.map(|release| (Release::VARIABLE.to_owned(), release.line.to_owned())));
        Ok(CargoRecipe {
            package: format!("netbench-stack-{}", self.folder),
            own_workspace: self.content.build.own_workspace,
            with_others: self.content.build.with_others,
            environment,
            arguments: entry.arguments.clone(),
            pins,
            openssl,
        })
    }

    fn needs(&self, names: &[Spanned<String>]) -> Result<Vec<Need>, FileError> {
        let needs = names.iter().map(|name| {
            let own = self.content.needs.get(name.get_ref().as_str());
            own.or_else(|| COMMON_NEEDS.get(name.get_ref()))
                .cloned()
                .ok_or_else(|| {
                    let known: Vec<&str> = COMMON_NEEDS.keys().map(String::as_str).collect();
                    let known = known.join(", ");
                    let message =
                        format!("no [needs] describe it; those of all stacks are {known}");
                    self.wrong(name, &message)
                })
        });
        needs.collect()
    }
}

/// Returns whether the name of a stack can also be the name of a folder.
fn is_plain(name: &str) -> bool {
    let mut chars = name.chars();
    name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && chars.all(|c| c.is_ascii_alphanumeric() || "._@+-".contains(c))
}

#[cfg(test)]
#[path = "registry_tests.rs"]
mod tests;
