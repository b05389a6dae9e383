//! Tests of the rules of `docs/ARCHITECTURE.md` about dependencies between crates, with the manifests.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use netbench_stacks::Recipe;
use serde_json::Value;

/// A package of the source tree. Folders are relative to the root.
struct Package {
    folder: String,
    /// The folders of the packages of the tree on which it depends.
    uses: BTreeSet<String>,
    /// The folders of the packages of the tree on which only its tests depend.
    tests_use: BTreeSet<String>,
}

/// Rules beyond the order of the table: no package in a folder that begins with the first text has a dependency, direct
/// or not, in a folder that begins with the second.
const NEVER: [(&str, &str); 6] = [
    ("stacks/", "netbench/model"),
    ("bogo-shims", "netbench/model"),
    ("netbench/", "stacks/"),
    ("netbench/", "bogo-shims"),
    ("netbench/report", "netbench/runner"),
    ("netbench/runner", "netbench/report"),
];

#[test]
fn each_crate_uses_only_crates_further_down_in_the_table() {
    let architecture = fs::read_to_string(root().join("docs/ARCHITECTURE.md")).unwrap();
    let table = architecture
        .lines()
        .skip_while(|line| !line.starts_with("| crate | folder |"))
        .take_while(|line| line.starts_with('|'));
    let rows: Vec<&str> = table.filter_map(folder_of_row).collect();
    let packages = packages();
    for package in packages.values() {
        let own = row_of(&rows, &package.folder);
        for used in package.uses.iter().chain(&package.tests_use) {
            let other = row_of(&rows, used);
            let are_together = own == other && is_among(rows[own], used);
            assert!(
                own < other || are_together,
                "{} uses {used}, which is not further down",
                package.folder
            );
        }
    }
    for row in rows {
        let exists = packages
            .keys()
            .any(|folder| folder == row || is_among(row, folder));
        assert!(exists, "{row} is in the table, but no package is there");
    }
}

fn row_of(rows: &[&str], folder: &str) -> usize {
    rows.iter()
        .position(|row| *row == folder)
        .or_else(|| rows.iter().position(|row| is_among(row, folder)))
        .unwrap_or_else(|| panic!("{folder} has no row in the table"))
}

#[test]
fn a_change_of_records_rebuilds_no_worker_and_other_rules_hold() {
    let packages = packages();
    for (from, to) in NEVER {
        let members = packages.values().filter(|it| it.folder.starts_with(from));
        assert!(members.clone().count() > 0, "{from} has no package");
        for package in members {
            for used in reached(package, &packages) {
                assert!(!used.starts_with(to), "{} needs {used}", package.folder);
            }
        }
    }
}

#[test]
fn the_report_needs_neither_an_async_runtime_nor_cryptography() {
    let output = Command::new(env!("CARGO"))
        .args([
            "tree",
            "--locked",
            "--offline",
            "--prefix=none",
            "--format={lib}",
        ])
        .args(["--package=netbench-report", "--edges=normal,build"])
        .current_dir(root())
        .output()
        .unwrap();
    assert!(output.status.success(), "cargo tree: {output:?}");
    let needed = String::from_utf8(output.stdout).unwrap();
    assert!(needed.lines().any(|library| library == "netbench_stats"));
    for library in ["tokio", "aws_lc_rs", "ring", "rcgen", "rustls", "openssl"] {
        assert!(!needed.lines().any(|it| it == library), "{library}");
    }
}

/// Returns the folder of a row of the table: the second cell of a line such as ``| `netbench` | `netbench/cli` | …``.
#[test]
fn workers_that_are_built_together_have_the_features_that_each_has_alone() {
    let stacks = netbench_stacks::stacks().unwrap().iter();
    let packages: BTreeSet<&str> = stacks
        .filter_map(|stack| match &stack.build.recipe {
            Recipe::Cargo(recipe) if recipe.with_others => Some(recipe.package.as_str()),
            _ => None,
        })
        .collect();
    assert!(packages.len() > 1, "{packages:?}");
    let each = packages
        .iter()
        .map(|package| crates(&[package], "normal,build").unwrap());
    let alone: BTreeSet<String> = each.flatten().collect();
    let packages: Vec<&str> = packages.into_iter().collect();
    let together = crates(&packages, "normal,build").unwrap();
    let other: Vec<&String> = together.symmetric_difference(&alone).collect();
    assert!(other.is_empty(), "{other:?}");
}

/// Cargo does not pass the setting to the build script of the workers, which records it.
#[test]
fn workers_record_the_optimization_of_releases_at_link_time() {
    let script = fs::read_to_string(root().join("netbench/worker/build.rs")).unwrap();
    let recorded = script.lines().find_map(|line| {
        let line = line.strip_prefix("const RELEASE_LTO: &str = ")?;
        line.strip_suffix(';')
    });
    let stacks = netbench_stacks::stacks().unwrap().iter();
    let own: BTreeSet<&str> = stacks
        .filter_map(|stack| match &stack.build.recipe {
            Recipe::Cargo(recipe) if recipe.own_workspace => Some(stack.build.source.as_str()),
            _ => None,
        })
        .collect();
    assert!(!own.is_empty());
    for workspace in own.into_iter().chain([""]) {
        let manifest = root().join(workspace).join("Cargo.toml");
        let manifest = fs::read_to_string(manifest).unwrap();
        let (_, profile) = manifest.split_once("\n[profile.release]\n").unwrap();
        let lto = profile.lines().find_map(|line| line.strip_prefix("lto = "));
        assert_eq!(lto, recorded, "{workspace}");
    }
}

/// Returns the crates that these packages reach by dependencies of the kinds `edges`, each with its version and features;
/// `None` if a crate is not on this machine.
fn crates(packages: &[&str], edges: &str) -> Option<BTreeSet<String>> {
    let output = Command::new(env!("CARGO"))
        .args(["tree", "--offline", "--locked", "--prefix=none"])
        .args(["--format={p} {f}", "--edges", edges])
        .args(packages.iter().flat_map(|package| ["-p", package]))
        .current_dir(root())
        .output()
        .unwrap();
    let lines = String::from_utf8(output.stdout).unwrap();
    // An empty line separates the packages.
    let lines = lines.lines().filter(|line| !line.is_empty());
    let crates = lines.map(|line| line.replace(" (*)", ""));
    output.status.success().then(|| crates.collect())
}

fn folder_of_row(line: &str) -> Option<&str> {
    let mut cells = line.strip_prefix("| ")?.split('|');
    let folder = cells.nth(1)?.trim();
    let folder = folder.strip_prefix('`')?.strip_suffix('`')?;
    (!folder.contains('`')).then_some(folder)
}

/// Returns whether the row is a pattern such as `stacks/*` that includes the folder.
fn is_among(row: &str, folder: &str) -> bool {
    row.strip_suffix('*')
        .is_some_and(|start| folder.starts_with(start))
}

/// Returns the folders of the packages on which a package depends, directly or not. Dependencies of tests do not count.
fn reached<'a>(package: &'a Package, packages: &'a BTreeMap<String, Package>) -> BTreeSet<&'a str> {
    let mut found = BTreeSet::new();
    let mut next = vec![package];
    while let Some(package) = next.pop() {
        let new = package
            .uses
            .iter()
            .filter(|used| found.insert(used.as_str()));
        next.extend(new.map(|used| &packages[used]));
    }
    found
}

/// Returns the packages of the workspace, and of stacks with a workspace of their own, by folder.
fn packages() -> BTreeMap<String, Package> {
    let stacks = fs::read_dir(root().join("stacks")).unwrap();
    let own = stacks
        .map(|stack| stack.unwrap().path().join("Cargo.toml"))
        .filter(|manifest| {
            let text = fs::read_to_string(manifest).unwrap_or_default();
            text.lines().any(|line| line == "[workspace]")
        });
    let manifests = own.chain([root().join("Cargo.toml")]);
    let packages = manifests.flat_map(|manifest| described(&manifest));
    packages.map(|it| (it.folder.clone(), it)).collect()
}

/// Returns the packages of a workspace. Features that are off by default are included, so the result holds for every
/// build.
fn described(manifest: &Path) -> Vec<Package> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--offline", "--format-version=1"])
        .arg("--manifest-path")
        .arg(manifest)
        .output()
        .unwrap();
    assert!(output.status.success(), "cargo metadata: {output:?}");
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap().iter();
    packages.map(package).collect()
}

fn package(described: &Value) -> Package {
    let manifest = Path::new(described["manifest_path"].as_str().unwrap());
    let dependencies = described["dependencies"].as_array().unwrap().iter();
    let of_tree = dependencies.filter_map(|it| {
        let folder = in_tree(Path::new(it["path"].as_str()?));
        Some((folder, it["kind"] == "dev"))
    });
    let (tests_use, uses): (Vec<_>, Vec<_>) = of_tree.partition(|(_, is_for_tests)| *is_for_tests);
    Package {
        folder: in_tree(manifest.parent().unwrap()),
        uses: uses.into_iter().map(|(folder, _)| folder).collect(),
        tests_use: tests_use.into_iter().map(|(folder, _)| folder).collect(),
    }
}

fn in_tree(folder: &Path) -> String {
    let folder = folder.canonicalize().unwrap();
    let relative = folder.strip_prefix(root()).unwrap();
    relative.display().to_string()
}

fn root() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.canonicalize().unwrap()
}
