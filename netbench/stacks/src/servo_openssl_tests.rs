use std::collections::BTreeSet;

use toml::Table;

use super::*;

const LIB: &str = "one\ntwo\nthree\nfour\nfive\nsix\n";
const MANIFEST: &str = "[package]\nname = \"servo-net\"\n";

/// A patch with one hunk for `lib.rs`.
const PATCH: &str = "--- a/lib.rs\n+++ b/lib.rs\n@@ -3,3 +3,3 @@\n three\n-four\n+4\n five\n";

/// A published crate in a temporary folder.
struct Crate {
    folder: tempfile::TempDir,
}

impl Crate {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let published = folder.path().join("published");
        fs::create_dir_all(published.join("fetch")).unwrap();
        fs::write(published.join("lib.rs"), LIB).unwrap();
        fs::write(published.join("Cargo.toml"), MANIFEST).unwrap();
        fs::write(published.join("fetch/data.bin"), [0xff, 0, 0xfe]).unwrap();
        Self { folder }
    }

    fn published(&self) -> Published {
        Published {
            version: VERSION.to_owned(),
            folder: self.folder.path().join("published"),
        }
    }

    fn target(&self) -> PathBuf {
        self.folder.path().join("patched")
    }

    fn patch(&self, recipe: &Recipe) -> Result<(), PatchError> {
        recipe.patch(&self.published(), &self.target())
    }

    fn file(&self, name: &str) -> Vec<u8> {
        fs::read(self.target().join(name)).unwrap()
    }
}

fn recipe(patch: &str, files: &[(&str, &str)]) -> Recipe {
    Recipe {
        patch: patch.to_owned(),
        checksums: files
            .iter()
            .map(|(file, text)| ((*file).to_owned(), format!("{:x}", Sha256::digest(text))))
            .collect(),
    }
}

#[test]
fn the_right_crate_is_copied_and_patched() {
    let published = Crate::new();
    let recipe = recipe(PATCH, &[("lib.rs", LIB)]);
    published.patch(&recipe).unwrap();
    assert_eq!(published.file("lib.rs"), b"one\ntwo\nthree\n4\nfive\nsix\n");
    assert_eq!(published.file("Cargo.toml"), MANIFEST.as_bytes());
    assert_eq!(published.file("fetch/data.bin"), [0xff, 0, 0xfe]);
}

#[test]
fn files_that_are_right_already_keep_their_age() {
    let published = Crate::new();
    let recipe = recipe(PATCH, &[("lib.rs", LIB)]);
    published.patch(&recipe).unwrap();
    let long_ago = std::time::SystemTime::UNIX_EPOCH;
    let paths = ["lib.rs", "Cargo.toml"].map(|name| published.target().join(name));
    for path in &paths {
        let file = fs::File::options().write(true).open(path);
        file.unwrap().set_modified(long_ago).unwrap();
    }
    fs::write(&paths[1], "changed").unwrap();
    published.patch(&recipe).unwrap();
    let ages = paths.map(|path| fs::metadata(path).unwrap().modified().unwrap());
    assert_eq!(ages[0], long_ago);
    assert_ne!(ages[1], long_ago);
    assert_eq!(published.file("Cargo.toml"), MANIFEST.as_bytes());
}

#[test]
fn a_changed_file_is_refused_with_both_checksums() {
    let published = Crate::new();
    let other = LIB.replace("six", "seven");
    let error = published
        .patch(&recipe(PATCH, &[("lib.rs", &other)]))
        .unwrap_err()
        .to_string();
    for part in [
        "lib.rs".to_owned(),
        format!("expected SHA-256 {:x}", Sha256::digest(&other)),
        format!("found {:x}", Sha256::digest(LIB)),
    ] {
        assert!(error.contains(&part), "{error}");
    }
    assert!(!published.target().exists());
}

#[test]
fn another_version_is_refused() {
    let published = Crate::new();
    let newer = Published {
        version: "0.7.1".to_owned(),
        ..published.published()
    };
    let recipe = recipe(PATCH, &[("lib.rs", LIB)]);
    let error = recipe.patch(&newer, &published.target()).unwrap_err();
    assert!(matches!(error, PatchError::Version(found) if found == "0.7.1"));
    assert!(!published.target().exists());
}

#[test]
fn a_hunk_that_does_not_fit_is_refused() {
    let two = "@@ -1,2 +1,2 @@\n-one\n+1\n two\n";
    let header = "--- a/lib.rs\n+++ b/lib.rs\n";
    // The second hunk's lines are other lines, or elsewhere in the file, or past its end.
    let others = [
        "@@ -4,2 +4,2 @@\n four\n-5\n+five\n",
        "@@ -3,2 +3,2 @@\n four\n-five\n+5\n",
        "@@ -40,2 +40,2 @@\n four\n-five\n+5\n",
    ];
    for other in others {
        let published = Crate::new();
        let patch = format!("{header}{two}{other}");
        let error = published
            .patch(&recipe(&patch, &[("lib.rs", LIB)]))
            .unwrap_err();
        let PatchError::Hunk { file, hunk } = error else {
            panic!("{error}: {other}");
        };
        assert_eq!((file.as_str(), hunk), ("lib.rs", 2), "{other}");
        assert!(!published.target().exists());
    }
}

#[test]
fn every_changed_file_has_a_checksum_and_every_checksum_a_change() {
    let published = Crate::new();
    let new = format!("{PATCH}--- /dev/null\n+++ b/new.rs\n@@ -0,0 +1 @@\n+new\n");
    let recipes = [
        (recipe(PATCH, &[]), "lib.rs"),
        (
            recipe(&new, &[("lib.rs", LIB), ("new.rs", "new\n")]),
            "new.rs",
        ),
        (
            recipe(PATCH, &[("Cargo.toml", MANIFEST), ("lib.rs", LIB)]),
            "does not change Cargo.toml",
        ),
    ];
    for (recipe, expected) in recipes {
        let error = published.patch(&recipe).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn the_checked_in_patch_changes_exactly_the_files_with_checksums() {
    let recipe = Recipe::read(&in_tree(SERVO).join(RECIPE)).unwrap();
    let changed: BTreeSet<String> = PatchSet::parse(&recipe.patch, ParseOptions::unidiff())
        .map(|change| match change.unwrap().operation().strip_prefix(1) {
            FileOperation::Modify { original, modified } => {
                assert_eq!(original, modified);
                original.into_owned()
            }
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(changed, recipe.checksums.into_keys().collect());
    assert!(changed.contains("connector.rs"));
}

/// Cargo shares a compiled crate only between programs with the same version, features and profile of it.
#[test]
fn both_programs_have_the_same_dependencies_and_profiles() {
    let [rustls, openssl] = both("Cargo.toml");
    for key in ["dependencies", "lints", "profile"] {
        assert_eq!(openssl[key], rustls[key], "{key}");
    }
    assert_eq!(openssl["package"]["edition"], rustls["package"]["edition"]);
}

#[test]
fn both_lock_files_have_the_same_compatible_versions() {
    let [rustls, openssl] = both("Cargo.lock").map(|lock| versions(&lock));
    let common = openssl.iter().filter_map(|(package, version)| {
        let other = rustls.get(package)?;
        assert_eq!(version, other, "{package:?}");
        Some(package)
    });
    // Nearly all crates are common: they are neither of rustls' connections nor of OpenSSL's.
    assert!(common.count() > openssl.len() * 9 / 10);
}

/// Returns a file of the package with rustls, and of that with OpenSSL.
fn both(file: &str) -> [Table; 2] {
    [Path::new(""), Path::new(RECIPE)].map(|folder| {
        let path = in_tree(SERVO).join(folder).join(file);
        read(&path).unwrap().parse().unwrap()
    })
}

/// Returns the version of each package and range of compatible versions.
fn versions(lock: &Table) -> BTreeMap<(String, String), String> {
    let packages = lock["package"].as_array().unwrap().iter();
    packages
        .map(|package| {
            let [name, version] =
                ["name", "version"].map(|key| package[key].as_str().unwrap().to_owned());
            ((name, compatible(&version)), version)
        })
        .collect()
}

/// Returns the components of a version up to the first that is not 0: Cargo takes versions with the same ones for compatible.
fn compatible(version: &str) -> String {
    let zeros = version.split('.').take_while(|component| *component == "0");
    let significant = zeros.count() + 1;
    let range: Vec<&str> = version.split('.').take(significant).collect();
    range.join(".")
}

fn in_tree(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(path)
}
