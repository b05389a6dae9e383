//! Finds the worker of each stack: the user's own, one next to the command, one in the cache that `netbench stacks
//! build` filled, or one of the source tree, which is built the first time.

mod terminal;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
};

use netbench_model::{Variant, Variants, suggestion};
use netbench_runner::WorkerProgram;
use netbench_stacks::{Stack, build_together, installed_servers, stacks};

use crate::{
    exit::bail_input,
    output::{meant_or, shown},
};

pub(crate) use self::terminal::Terminal;
pub(crate) use netbench_stacks::{Profile, Program, SourceTree, build_time, in_path, this_command};

/// The place of a worker, which may not be built.
pub(crate) enum Source {
    /// A program of the user.
    Own(PathBuf),
    /// A worker that netbench finds or builds.
    Known(Known),
}

/// Returns the sources of the workers of stacks, and of the servers of emulated sites: a server is a stack's worker, or
/// the one that starts an installed server.
pub(crate) fn needed(
    stacks: &BTreeSet<String>,
    servers: &BTreeSet<String>,
    own: &[(String, PathBuf)],
) -> anyhow::Result<BTreeMap<String, Source>> {
    let mut sources = BTreeMap::new();
    let stacks = stacks.iter().map(|name| (name, known as fn(&str) -> _));
    let servers = servers.iter().map(|name| (name, known_server as _));
    for (name, known) in stacks.chain(servers) {
        let source = match own.iter().rfind(|(stack, _)| stack == name) {
            Some((_, path)) => Source::Own(path.clone()),
            None => Source::Known(known(name)?),
        };
        sources.insert(name.clone(), source);
    }
    Ok(sources)
}

/// Returns one of the user's workers that is not needed.
pub(crate) fn unused<'a>(
    needed: &BTreeMap<String, Source>,
    own: &'a [(String, PathBuf)],
) -> Option<&'a str> {
    let mut given = own.iter().map(|(name, _)| name.as_str());
    given.find(|name| !needed.contains_key(*name))
}

/// Finds workers, or builds them.
///
/// Starts no thread: an emulated link has yet to leave this process's namespaces.
pub(crate) fn find(
    needed: BTreeMap<String, Source>,
) -> anyhow::Result<BTreeMap<String, WorkerProgram>> {
    let known = needed.values().filter_map(|source| match source {
        Source::Own(_) => None,
        Source::Known(known) => Some(known.program()),
    });
    build_together(&known.collect::<Vec<_>>(), &Terminal)?;
    let found = needed.into_iter().map(|(name, source)| {
        let program = match source {
            Source::Own(path) => path.into(),
            Source::Known(known) => WorkerProgram {
                path: known.program().find_or_build(&Terminal)?,
                variants: known.variants,
            },
        };
        Ok((name, program))
    });
    found.collect()
}

/// A stack for which netbench has a worker, with the requested variants.
#[derive(Debug, Clone)]
pub(crate) struct Known {
    source: &'static Stack,
    variants: Variants,
}

impl Known {
    /// Returns the program of the stack's worker.
    pub(crate) fn program(&self) -> Program {
        Program::of(self.source).with(&self.variants)
    }
}

/// Finds a stack for which netbench has a worker.
pub(crate) fn known(stack: &str) -> anyhow::Result<Known> {
    if installed_servers()
        .iter()
        .any(|server| server.name == stack)
    {
        bail_input!(
            "{stack} is no stack: it serves emulated sites (server={stack} in a sites file)"
        );
    }
    known_among(stack, &[])
}

/// Finds a server of emulated sites for which netbench has a worker.
fn known_server(name: &str) -> anyhow::Result<Known> {
    let installed = installed_servers();
    match installed.iter().find(|source| source.name == name) {
        Some(source) => Ok(Known {
            source,
            variants: Variants::NONE,
        }),
        None => known_among(name, &names_of(installed, |_| true)),
    }
}

/// Finds a stack; `others` are further names for suggestions.
fn known_among(stack: &str, others: &[&str]) -> anyhow::Result<Known> {
    let known = stacks()?;
    let (base, variants) = match Variants::split(stack) {
        Ok(split) => split,
        Err(error) => bail_input!("stack \"{}\": {error}", shown(stack)),
    };
    if let Some(source) = known.iter().find(|source| source.name == base) {
        let usual = format!("{base}{variants}");
        if usual != stack {
            bail_input!("stack \"{}\": write it as {usual}", shown(stack));
        }
        if variants.has(Variant::Fips) && source.fips.is_none() {
            bail_input!(
                "{base} has no variant +fips: netbench builds no FIPS module for it; these have: {}",
                names_of(known, |stack| stack.fips.is_some()).join(", ")
            );
        }
        let others = variants.without(Variant::Fips);
        if others != Variants::NONE && !source.build.is_cargo() {
            bail_input!("{base} has no variants such as {others}: its worker is no Rust program");
        }
        if let Some(compiler) = variants.compiler()
            && !source.build.compiles_c
        {
            bail_input!(
                "{base} has no variant +{compiler}: its build compiles no C of its library"
            );
        }
        return Ok(Known { source, variants });
    }
    if let Some((first, variant)) = base.rsplit_once('+')
        && known.iter().any(|source| source.name == first)
    {
        let variants: Vec<_> = Variant::ALL.iter().map(ToString::to_string).collect();
        let suggestion = suggestion(variant, &variants);
        bail_input!(
            "{first} has no variant \"+{}\"; {suggestion}",
            shown(variant)
        );
    }
    if let Some((first, version)) = base.split_once('@')
        && known
            .iter()
            .any(|source| source.name.split('@').next() == Some(first))
    {
        let lines = known.iter().filter_map(|source| source.version_of(first));
        let lines: Vec<_> = lines.collect();
        if lines.is_empty() {
            bail_input!(
                "{first} has no versions to choose from; these have: {}",
                versioned(known)
            );
        }
        bail_input!(
            "{first} has no version \"{}\"; it has {}",
            shown(version),
            lines.join(", ")
        );
    }
    let mut names = names_of(known, |_| true);
    names.extend(others);
    if stack.is_empty() {
        bail_input!("the name of a stack is empty; one such as openssl is needed");
    }
    let shown = shown(stack);
    // With versions and variants the list would be too long to be shown whole.
    let plain: Vec<&str> = names
        .iter()
        .copied()
        .filter(|name| !name.contains(['@', '+']))
        .collect();
    let hint = format!(
        "expected one of {}; netbench stacks list has their versions and variants",
        plain.join(", ")
    );
    let suggestion = meant_or(stack, &names, &hint);
    bail_input!(
        "unknown stack \"{shown}\"; {suggestion} (--worker {shown}=PROGRAM adds a stack of your own)"
    );
}

/// Returns the libraries with versions to choose from.
pub(crate) fn versioned(known: &[Stack]) -> String {
    let names = known.iter().filter_map(|stack| stack.name.split_once('@'));
    let libraries: BTreeSet<&str> = names.map(|(library, _)| library).collect();
    libraries.into_iter().collect::<Vec<_>>().join(", ")
}

/// Returns the names of the stacks that `is_one` selects.
fn names_of(known: &[Stack], is_one: impl Fn(&Stack) -> bool) -> Vec<&str> {
    let chosen = known.iter().filter(|stack| is_one(stack));
    chosen.map(|stack| stack.name.as_str()).collect()
}

/// Finds or builds the library that counts allocations.
pub(crate) fn heap_library() -> anyhow::Result<PathBuf> {
    Ok(Program::heap_library().find_or_build(&Terminal)?)
}

/// Finds or builds the server of the pages that test a browser's features.
pub(crate) fn web_server() -> anyhow::Result<PathBuf> {
    Ok(Program::of(netbench_stacks::web_server()).find_or_build(&Terminal)?)
}
