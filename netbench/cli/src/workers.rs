use std::{
    collections::{BTreeMap, BTreeSet},
    env,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::{Context, bail};
use netbench_model::suggestion;
use netbench_runner::{BuildVariant, WorkerSource, known_stacks};

use crate::exit::bail_input;

/// Finds the worker of each stack: one of the user's own, one beside the command, or one that is
/// built now from the source tree that the command was built in.
///
/// Starts no thread: an emulated link has yet to leave this process's namespaces.
pub(crate) fn find(
    stacks: &BTreeSet<String>,
    own: &[(String, PathBuf)],
) -> anyhow::Result<BTreeMap<String, PathBuf>> {
    let own: BTreeMap<_, _> = own.iter().cloned().collect();
    let mut programs = BTreeMap::new();
    for stack in stacks {
        let program = match own.get(stack) {
            Some(path) => path.clone(),
            None => {
                let source = known(stack)?;
                find_one(
                    source.executable,
                    source.package,
                    source.variant,
                    &format!("the {stack} worker"),
                )?
            }
        };
        programs.insert(stack.clone(), program);
    }
    Ok(programs)
}

fn known(stack: &str) -> anyhow::Result<&'static WorkerSource> {
    let known = known_stacks();
    if let Some(source) = known.iter().find(|source| source.stack == stack) {
        return Ok(source);
    }
    let names: Vec<_> = known.iter().map(|source| source.stack).collect();
    let (shown, suggestion) = (stack.escape_debug(), suggestion(stack, &names));
    bail_input!(
        "unknown stack \"{shown}\"; {suggestion} (--worker {shown}=PROGRAM adds a stack of your own)"
    );
}

/// The library that counts allocations: found or built like a worker.
pub(crate) fn heap_library() -> anyhow::Result<PathBuf> {
    find_one(
        "libnetbench_heap.so",
        "netbench-heap",
        None,
        "the library that counts allocations",
    )
}

/// The file that `package` builds, as usual or as a variant.
fn find_one(
    file: &str,
    package: &str,
    variant: Option<BuildVariant>,
    what: &str,
) -> anyhow::Result<PathBuf> {
    let command = env::current_exe().context("cannot tell where this command is")?;
    let folder = variant.map_or("", |variant| variant.folder);
    let beside = command.with_file_name(folder).join(file);
    if beside.is_file() {
        return Ok(beside);
    }
    let Some(tree) = source_tree(&command) else {
        bail!(
            "{what} is missing: there is no {file} beside the command. In a source tree, \
             `cargo build --release -p {package}` builds it"
        );
    };
    let target = target(&tree).join(folder);
    let built = target.join("release").join(file);
    if !built.is_file() {
        note!("netbench: Building {what} (once)");
        let target = target.display().to_string();
        let mut arguments = vec!["-p", package, "--target-dir", &target];
        let environment = variant.map_or(&[][..], |variant| variant.environment);
        let settings = environment
            .iter()
            .map(|(name, value)| format!("env.{name}='{value}'"));
        let settings: Vec<String> = settings.collect();
        arguments.extend(settings.iter().flat_map(|setting| ["--config", setting]));
        cargo_build(&tree, &arguments, &built)?;
    }
    Ok(built)
}

/// Where Cargo puts what it builds. The profile that is measured is always the one that would be shipped.
pub(crate) fn built(tree: &Path, file: &str) -> PathBuf {
    target(tree).join("release").join(file)
}

fn target(tree: &Path) -> PathBuf {
    env::var_os("CARGO_TARGET_DIR").map_or_else(|| tree.join("target"), PathBuf::from)
}

/// The source tree that the command is in, or is called in.
pub(crate) fn source_tree(command: &Path) -> Option<PathBuf> {
    let here = env::current_dir().ok();
    let starts = [Some(command.to_path_buf()), here];
    starts.into_iter().flatten().find_map(|start| {
        let stacks = |dir: &&Path| {
            dir.join("Cargo.toml").is_file()
                && dir.join("netbench/cli/Cargo.toml").is_file()
                && dir.join("stacks").is_dir()
        };
        start.ancestors().find(stacks).map(Path::to_path_buf)
    })
}

/// Builds `what` of the source tree, which gives the file `built`.
pub(crate) fn cargo_build(tree: &Path, what: &[&str], built: &Path) -> anyhow::Result<()> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let arguments = [&["build", "--release", "--locked"], what].concat();
    let status = Command::new(cargo)
        .args(&arguments)
        .current_dir(tree)
        .stdin(Stdio::null())
        // stdout is the report's.
        .stdout(Stdio::null())
        .status()
        .with_context(|| format!("cannot run `cargo {}`", arguments.join(" ")))?;
    if !status.success() {
        bail!(
            "`cargo {}` failed in {}",
            arguments.join(" "),
            tree.display()
        );
    }
    if !built.is_file() {
        bail!("Cargo built it, but {} is not there", built.display());
    }
    Ok(())
}

/// Where a program is that can be called by its name.
pub(crate) fn in_path(program: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    env::split_paths(&path)
        .map(|folder| folder.join(program))
        .find(|file| file.is_file())
}
