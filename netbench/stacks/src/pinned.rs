//! A workspace for one package, in which packages have other versions than in netbench's own workspace. The package's
//! sources are copied into the workspace, and all other crates of netbench are used in place.

use std::{
    collections::BTreeSet,
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
/// folder `source` of the tree; `arguments` are those of its build with Cargo.
///
/// # Errors
/// Returns an error if a file cannot be read or written, or if Cargo cannot choose these versions.
pub fn pinned_workspace(
    tree: &SourceTree,
    source: &str,
    pins: &[Pin],
    arguments: &[&str],
    folder: &Path,
    host: &dyn Host,
) -> Result<String, BuildError> {
    let (from, to) = (tree.root().join(source), folder.join(source));
    let lock = read(tree.root().join("Cargo.lock"))?;
    let manifest = read(tree.root().join("Cargo.toml"))?;
    let of_workspace = of_workspace(&manifest, source, tree.root())?;
    let of_package = of_package_with(&read(from.join("Cargo.toml"))?, pins, arguments)?;
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
    for (_, profile) in profiles.iter_mut() {
        if let Some(profile) = profile.as_table_mut() {
            profile.remove("package");
        }
    }
    Ok(manifest.to_string())
}

/// Returns the package's manifest with the pinned versions, and without the dependencies of tests.
///
/// Cargo chooses versions for all features of a package, including those that a build does not have, and finds none if a
/// pinned package lacks a feature that one of them enables. Features that the build does not have therefore enable none
/// of a pinned package.
fn of_package_with(manifest: &str, pins: &[Pin], arguments: &[&str]) -> Result<String, BuildError> {
    let mut manifest = parsed(manifest)?;
    for key in ["dev-dependencies", "test", "bench"] {
        manifest.remove(key);
    }
    if let Some(features) = manifest.get_mut("features").and_then(Value::as_table_mut) {
        let chosen = chosen_features(features, arguments);
        let others = features
            .iter_mut()
            .filter(|(name, _)| !chosen.contains(*name));
        for enabled in others.filter_map(|(_, enabled)| enabled.as_array_mut()) {
            enabled.retain(|it| !pins.iter().any(|pin| is_feature_of(it, &pin.package)));
        }
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

/// Returns the features of a build with these arguments: those that they name, the default ones, and all that these contain.
fn chosen_features(features: &Table, arguments: &[&str]) -> BTreeSet<String> {
    let mut open: Vec<&str> = arguments.iter().flat_map(|it| it.split(',')).collect();
    if !arguments.contains(&"--no-default-features") {
        open.push("default");
    }
    let mut chosen = BTreeSet::new();
    while let Some(name) = open.pop() {
        let Some(contained) = features.get(name).and_then(Value::as_array) else {
            continue;
        };
        if chosen.insert(name.to_owned()) {
            open.extend(contained.iter().filter_map(Value::as_str));
        }
    }
    chosen
}

/// Returns whether an entry of a feature, such as `rustls/ring`, is a feature of this package.
fn is_feature_of(entry: &Value, package: &str) -> bool {
    let entry = entry.as_str().and_then(|entry| entry.split_once('/'));
    entry.is_some_and(|(of, _)| of.trim_end_matches('?') == package)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_that_a_build_does_not_have_enable_none_of_a_pinned_package() {
        let manifest = r#"
[features]
default = ["ring"]
ring = ["rustls/ring", "other/fast"]
aws-lc = ["rustls/aws_lc_rs", "other/fast"]
fips = ["aws-lc", "rustls/fips"]
[dependencies]
rustls = "0.22"
"#;
        let pins = [Pin {
            package: "rustls".to_owned(),
            version: "0.20.9".to_owned(),
        }];
        for (arguments, kept) in [
            (vec![], ["rustls/ring"].as_slice()),
            (vec!["--no-default-features"], &[]),
            (
                vec!["--no-default-features", "--features", "aws-lc"],
                &["rustls/aws_lc_rs"],
            ),
            (
                vec!["--features", "fips,rustls/logging"],
                &["rustls/aws_lc_rs", "rustls/fips", "rustls/ring"],
            ),
        ] {
            let made = of_package_with(manifest, &pins, &arguments).unwrap();
            for entry in ["rustls/ring", "rustls/aws_lc_rs", "rustls/fips"] {
                assert_eq!(
                    made.contains(entry),
                    kept.contains(&entry),
                    "{arguments:?}: {made}"
                );
            }
            assert!(made.contains(r#"rustls = "=0.20.9""#), "{made}");
            assert_eq!(made.matches("other/fast").count(), 2, "{made}");
        }
    }
}
