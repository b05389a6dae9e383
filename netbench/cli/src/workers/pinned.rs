//! A workspace for one worker, in which packages have other versions than in netbench's own workspace. The worker's
//! sources are copied into the workspace, and all other crates of netbench are used in place.

use std::{
    ffi::OsStr,
    fs, io,
    path::{Path, PathBuf},
};

use anyhow::Context;
use netbench_runner::Pin;
use toml::{Table, Value};

use super::SourceTree;

/// The parts of a worker's package besides its manifest, as far as they exist.
const SOURCES: [&str; 2] = ["src", "build.rs"];

/// The file with the workspace's inputs, which shows whether they have changed.
const MADE_FROM: &str = "made-from";

/// Makes the workspace in `folder`, unless it exists already, and returns the path of its manifest.
pub(super) fn workspace(
    tree: &SourceTree,
    package: &str,
    pins: &[Pin],
    folder: &Path,
) -> anyhow::Result<String> {
    let name = package.replace("netbench-stack-", "stacks/");
    let (from, to) = (tree.root().join(&name), folder.join(&name));
    let read = |path: PathBuf| {
        fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))
    };
    let lock = read(tree.root().join("Cargo.lock"))?;
    let manifest = read(tree.root().join("Cargo.toml"))?;
    let of_package = read(from.join("Cargo.toml"))?;
    let made = || -> anyhow::Result<String> {
        let of_workspace = of_workspace(&manifest, &name, tree.root())?;
        let of_package = of_package_with(&of_package, pins)?;
        let made_from = format!("{lock}{of_workspace}{of_package}{pins:?}");
        for source in SOURCES {
            copy(&from.join(source), &to.join(source))?;
        }
        let path = folder.join("Cargo.toml").display().to_string();
        let stamp = folder.join(MADE_FROM);
        if fs::read_to_string(&stamp).is_ok_and(|before| before == made_from) {
            return Ok(path);
        }
        let _ = fs::remove_file(&stamp);
        fs::write(to.join("Cargo.toml"), &of_package)?;
        fs::write(&path, &of_workspace)?;
        fs::write(folder.join("Cargo.lock"), &lock)?;
        tree.cargo_update(&path, pins)?;
        fs::write(&stamp, made_from)?;
        Ok(path)
    };
    made().with_context(|| {
        format!(
            "cannot make a workspace for {package} in {}",
            folder.display()
        )
    })
}

/// Returns the manifest of a workspace with only this member: with the same settings, and with paths to the tree's
/// crates.
fn of_workspace(manifest: &str, member: &str, root: &Path) -> anyhow::Result<String> {
    let mut manifest: Table = manifest.parse().context("Cargo.toml")?;
    let workspace = table(&mut manifest, "workspace")?;
    for key in ["exclude", "default-members"] {
        workspace.remove(key);
    }
    workspace.insert("members".to_owned(), vec![member.to_owned()].into());
    for (_, dependency) in table(workspace, "dependencies")? {
        if let Some(path) = dependency.get_mut("path") {
            let relative = path.as_str().unwrap_or_default();
            *path = root.join(relative).display().to_string().into();
        }
    }
    // Cargo would warn of settings for packages outside the workspace.
    manifest.remove("patch");
    let profiles = table(&mut manifest, "profile")?;
    profiles.remove("dev");
    table(profiles, "release")?.remove("package");
    Ok(manifest.to_string())
}

/// Returns the package's manifest with the pinned versions, and without the dependencies of tests.
fn of_package_with(manifest: &str, pins: &[Pin]) -> anyhow::Result<String> {
    let mut manifest: Table = manifest.parse().context("the package's Cargo.toml")?;
    for key in ["dev-dependencies", "test", "bench"] {
        manifest.remove(key);
    }
    for (name, dependency) in table(&mut manifest, "dependencies")? {
        let renamed = dependency.get("package").and_then(Value::as_str);
        let package = renamed.unwrap_or(name);
        let Some(pin) = pins.iter().find(|pin| pin.package == package) else {
            continue;
        };
        let exactly = format!("={}", pin.version).into();
        match dependency.get_mut("version") {
            Some(version) => *version = exactly,
            None => *dependency = exactly,
        }
    }
    Ok(manifest.to_string())
}

fn table<'a>(parent: &'a mut Table, key: &str) -> anyhow::Result<&'a mut Table> {
    let found = parent.get_mut(key).and_then(Value::as_table_mut);
    found.with_context(|| format!("there is no [{key}] in a manifest"))
}

/// Copies a file or folder, if it exists. Identical files stay as they are: Cargo compares the ages of files.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    if from.is_dir() {
        fs::create_dir_all(to)?;
        let names = |folder: &Path| -> io::Result<Vec<_>> {
            fs::read_dir(folder)?
                .map(|entry| Ok(entry?.file_name()))
                .collect()
        };
        let wanted = names(from)?;
        for gone in names(to)?.iter().filter(|name| !wanted.contains(name)) {
            remove(&to.join(gone))?;
        }
        return wanted
            .iter()
            .map(OsStr::new)
            .try_for_each(|name| copy(&from.join(name), &to.join(name)));
    }
    if !from.is_file() {
        return Ok(());
    }
    let content = fs::read(from)?;
    if fs::read(to).is_ok_and(|there| there == content) {
        return Ok(());
    }
    fs::write(to, content)
}

fn remove(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        fs::remove_dir_all(path)
    } else {
        fs::remove_file(path)
    }
}
