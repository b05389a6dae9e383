use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::Context;
use netbench_model::Variant;
use netbench_stacks::cache_folder;

use super::{args::Clean, programs};
use crate::{
    commands::runs::list::size_bytes,
    exit::Ended,
    output,
    workers::{SourceTree, build_time},
};

/// Deletes workers in the cache folder, or the remains of their builds. Cargo's usual output in a source tree is left
/// to `cargo clean`.
pub(super) fn clean(options: &Clean) -> anyhow::Result<Ended> {
    let mut lines = if options.objects {
        objects()?
    } else {
        workers(&options.stacks)?
    };
    if lines.is_empty() {
        lines.push("there is nothing to delete".to_owned());
    }
    output::write_lines(&lines)?;
    Ok(Ended::Well)
}

fn workers(stacks: &[String]) -> anyhow::Result<Vec<String>> {
    let mut lines = Vec::new();
    for program in programs(stacks)? {
        let Some(path) = program.in_cache()? else {
            continue;
        };
        let bytes = fs::metadata(&path).map_or(0, |about| about.len());
        fs::remove_file(&path).with_context(|| format!("cannot delete {}", path.display()))?;
        build_time::forget(&path);
        lines.push(deleted(&path, bytes));
    }
    Ok(lines)
}

fn objects() -> anyhow::Result<Vec<String>> {
    let mut folders = vec![cache_folder("openssl")?];
    if let Some(tree) = SourceTree::find() {
        folders.extend(folders_of_variants(&tree.target())?);
    }
    let mut lines = Vec::new();
    for folder in folders {
        let bytes = size_bytes(&folder);
        if bytes > 0 {
            fs::remove_dir_all(&folder)
                .with_context(|| format!("cannot delete {}", folder.display()))?;
            lines.push(deleted(&folder, bytes));
        }
    }
    Ok(lines)
}

/// Returns the target folders that belong only to versions and variants, recognised by their names and by Cargo's mark.
/// Their workers were copied into the cache when they were built.
fn folders_of_variants(target: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let builds = netbench_stacks::stacks()?.iter();
    let builds = builds.map(|stack| stack.build.folder.as_str());
    // Versions of one library share a folder, whose name has no version.
    let builds = builds.flat_map(|folder| {
        let shared = folder.find('@').map_or(folder, |at| &folder[..=at]);
        [folder, shared]
    });
    let names: Vec<&str> = builds
        .chain(Variant::ALL.iter().map(|variant| variant.name()))
        .collect();
    let entries = fs::read_dir(target).into_iter().flatten().flatten();
    let mut folders: Vec<PathBuf> = entries
        .filter(|entry| {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            name.split('+').all(|part| names.contains(&part))
        })
        .map(|entry| entry.path())
        .filter(|path| path.join("CACHEDIR.TAG").is_file())
        .collect();
    folders.sort_unstable();
    Ok(folders)
}

fn deleted(path: &Path, bytes: u64) -> String {
    format!("deleted {} ({} MB)", path.display(), bytes / 1_000_000)
}
