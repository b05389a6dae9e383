//! A workspace for one package, in which packages have other versions than in netbench's own workspace. The package's
//! sources are copied into the workspace, and all other crates of netbench are used in place.

use std::{
    ffi::{OsStr, OsString},
    fs, io,
    path::{Path, PathBuf},
};

use toml::{Table, Value};

use crate::{BuildError, Host, Pin, SourceTree};

/// The parts of a package besides its manifest, as far as they exist: `configs` is that of the BoGo shims.
const SOURCES: [&str; 3] = ["src", "build.rs", "configs"];

/// The file with the workspace's inputs, which shows whether they have changed.
const MADE_FROM: &str = "made-from";

/// Makes the workspace in `folder`, unless it exists already, and returns the path of its manifest. The package is in the
/// folder `source` of the tree.
///
/// # Errors
/// Returns an error if a file cannot be read or written, or if Cargo cannot choose these versions.
pub fn pinned_workspace(
    tree: &SourceTree,
    source: &str,
    pins: &[Pin],
    folder: &Path,
    host: &dyn Host,
) -> Result<String, BuildError> {
    let (from, to) = (tree.root().join(source), folder.join(source));
    let lock = read(tree.root().join("Cargo.lock"))?;
    let manifest = read(tree.root().join("Cargo.toml"))?;
    let of_workspace = of_workspace(&manifest, source, tree.root())?;
    let of_package = of_package_with(&read(from.join("Cargo.toml"))?, pins)?;
    let made_from = format!("{lock}{of_workspace}{of_package}{pins:?}");
    for part in SOURCES {
        copy(&from.join(part), &to.join(part))
            .map_err(BuildError::file("copy", &from.join(part)))?;
    }
    let path = folder.join("Cargo.toml").display().to_string();
    let stamp = folder.join(MADE_FROM);
    if fs::read_to_string(&stamp).is_ok_and(|before| before == made_from) {
        return Ok(path);
    }
    let _ = fs::remove_file(&stamp);
    for (file, text) in [
        (to.join("Cargo.toml"), &of_package),
        (folder.join("Cargo.toml"), &of_workspace),
        (folder.join("Cargo.lock"), &lock),
    ] {
        fs::write(&file, text).map_err(BuildError::file("write", &file))?;
    }
    tree.cargo_update(&path, pins, host)?;
    fs::write(&stamp, made_from).map_err(BuildError::file("write", &stamp))?;
    Ok(path)
}

fn read(path: PathBuf) -> Result<String, BuildError> {
    fs::read_to_string(&path).map_err(BuildError::file("read", &path))
}

/// Returns the manifest of a workspace with only this member: with the same settings, and with paths to the tree's
/// crates.
fn of_workspace(manifest: &str, member: &str, root: &Path) -> Result<String, BuildError> {
    let mut manifest = parsed(manifest)?;
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
fn of_package_with(manifest: &str, pins: &[Pin]) -> Result<String, BuildError> {
    let mut manifest = parsed(manifest)?;
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

fn parsed(manifest: &str) -> Result<Table, BuildError> {
    let parsed: Result<Table, _> = manifest.parse();
    parsed.map_err(|error| BuildError::Manifest(error.to_string()))
}

fn table<'a>(parent: &'a mut Table, key: &str) -> Result<&'a mut Table, BuildError> {
    let found = parent.get_mut(key).and_then(Value::as_table_mut);
    found.ok_or_else(|| BuildError::Manifest(format!("there is no [{key}]")))
}

/// Copies a file or folder, if it exists. Identical files stay as they are: Cargo compares the ages of files.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    if from.is_dir() {
        fs::create_dir_all(to)?;
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

fn names(folder: &Path) -> io::Result<Vec<OsString>> {
    fs::read_dir(folder)?
        .map(|entry| Ok(entry?.file_name()))
        .collect()
}

fn remove(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        fs::remove_dir_all(path)
    } else {
        fs::remove_file(path)
    }
}
