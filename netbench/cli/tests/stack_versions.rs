//! Stacks with a version in their names, such as `openssl@3.0`: building their libraries and workers.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::{
    checkout::{
        self, alone, builds, cached_workers, fails_with_own_tools, log, log_of, remove_tools,
    },
    support::{Place, assert_contains, text},
};

/// Makes a checkout with scripts in place of the tools that compile OpenSSL.
fn checkout() -> Place {
    let place = checkout::checkout();
    place.script("tools/cc", "echo cc 1");
    let perl = r#"echo "$*" >> "$(dirname "$0")"/perl.log
for argument; do
    case "$argument" in --prefix=*) echo "${argument#--prefix=}" > prefix ;; esac
done"#;
    place.script("tools/perl", perl);
    make(&place, "");
    place
}

/// Makes `make` run `compile` for a compilation.
fn make(place: &Place, compile: &str) {
    let script = format!(
        r#"echo "$*" >> "$(dirname "$0")"/make.log
case "$1" in
-n) echo "cc -c one.c"; echo "cc -c two.c" ;;
-j*) echo "cc -c one.c"; {compile} ;;
install_dev) mkdir -p "$(cat prefix)/lib" ;;
esac"#
    );
    place.script("tools/make", &script);
}

/// Returns the files of OpenSSL in the cache.
fn cached(place: &Place) -> Vec<PathBuf> {
    let folder = place.path().join("cache/netbench/openssl");
    let entries = fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().path()).collect()
}

fn has_extension(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|found| found == extension)
}

#[test]
fn a_version_is_compiled_once_and_then_its_workers() {
    let place = checkout();
    let stacks = "openssl@3.0 openssl@3.0+jemalloc+novaes openssl@1.1.1";
    let done = alone(&place, &format!("stacks build {stacks}")).expect(0);
    let said = &done.stderr;
    assert!(said.contains("OpenSSL 3.0.8: 0 of 2 files\n"), "{said}");
    assert_eq!(done.stdout.lines().count(), 3, "{}", done.stdout);

    let calls = log_of(&place, "tools/make.log");
    assert_eq!(calls.matches("install_dev").count(), 2, "{calls}");
    let fetched = log_of(&place, "fetched.log");
    for (package, checksum) in [
        ("300.0.13+3.0.8", "f00789a6"),
        ("111.28.2+1.1.1w", "bb1830e2"),
    ] {
        assert_contains(&fetched, &format!("version = \"{package}\""));
        assert_contains(&fetched, &format!("checksum = \"{checksum}"));
    }
    let options = log_of(&place, "tools/perl.log");
    let options: Vec<&str> = options.lines().collect();
    assert!(options[0].contains(" no-module "), "{options:?}");
    assert!(!options[1].contains(" no-module "), "{options:?}");
    assert!(
        options[1].contains(" enable-ec_nistp_64_gcc_128"),
        "{options:?}"
    );

    let lines = builds::<3>(&place);
    let shared = format!(
        "--target-dir {}/openssl@ ",
        place.path().join("target").display()
    );
    assert_contains(&lines[0], &shared);
    assert_contains(&lines[0], "env.NETBENCH_OPENSSL='3.0'");
    assert_contains(&lines[1], "/openssl@+jemalloc ");
    assert_contains(&lines[2], "env.NETBENCH_OPENSSL='1.1.1'");
    let cache = cached_workers(&place);
    for folder in ["openssl@3.0", "openssl@3.0+jemalloc", "openssl@1.1.1"] {
        assert!(
            cache.join(folder).join("netbench-worker-openssl").is_file(),
            "{folder}"
        );
    }

    let kept = cached(&place);
    assert_eq!(kept.len(), 4, "a folder and a lock of each: {kept:?}");
    for folder in kept.iter().filter(|path| path.is_dir()) {
        assert!(folder.join("complete").is_file() && folder.join("lib").is_dir());
    }
    alone(&place, "stacks build openssl@3.0").expect(0);
    assert_eq!(log_of(&place, "tools/make.log"), calls, "it is there");
    place.script("tools/cc", "echo cc 2");
    alone(&place, "stacks build openssl@3.0").expect(0);
    let again = log_of(&place, "tools/make.log");
    assert_ne!(again, calls, "another compiler");
    for tool in ["clang", "clang++"] {
        place.script(&format!("tools/{tool}"), "echo clang 3");
    }
    alone(&place, "stacks build openssl@3.0+clang").expect(0);
    assert_ne!(log_of(&place, "tools/make.log"), again, "a variant");
    assert!(log(&place).contains("/openssl@+clang "), "{}", log(&place));
}

fn build_log(place: &Place) -> Option<PathBuf> {
    let mut files = cached(place).into_iter();
    files.find(|path| has_extension(path, "log"))
}

#[test]
fn a_failed_compilation_leaves_its_log_and_nothing_else() {
    let place = checkout();
    make(&place, "echo one.c:1: no space left >&2; exit 2");
    let done = alone(&place, "stacks build openssl@3.2 go").expect(1);
    let kept = build_log(&place).unwrap();
    for words in [
        "OpenSSL 3.2.1 was not built: make build_libs failed; its log is ",
        &kept.display().to_string(),
        "one.c:1: no space left",
        "not built: openssl@3.2\n",
    ] {
        done.tells(words);
    }
    assert!(done.stdout.starts_with("go: "), "{}", done.stdout);
    assert!(fs::read_to_string(kept).unwrap().contains("no space left"));
    let folders = cached(&place).into_iter().filter(|path| path.is_dir());
    assert_eq!(folders.count(), 0, "{:?}", cached(&place));
    assert_eq!(log(&place), "", "no worker without its library");

    make(&place, "");
    alone(&place, "stacks build openssl@3.2").expect(0);
    assert_eq!(build_log(&place), None);
}

#[test]
fn what_cannot_be_built_is_said_before() {
    let place = checkout();
    remove_tools(&place, &["perl", "make"]);
    fails_with_own_tools(&place, "stacks build openssl@3.0").tells("not here: perl, make\n");
    assert_eq!(log(&place), "");
}

#[test]
fn versions_are_listed_and_built_only_by_name() {
    let place = checkout();
    let said = alone(&place, "stacks").expect(0).stdout;
    assert_contains(&said, "netbench stacks build openssl@4.0 builds it");
    let done = alone(&place, "stacks build --all").expect(1);
    assert!(!done.stdout.contains("openssl@"), "{}", done.stdout);
    assert!(!place.path().join("cache/netbench/openssl").exists());
}

/// Writes the package of a worker, and the workspace's settings, into a checkout.
fn package(place: &Place) {
    let workspace = r#"[workspace]
members = ["netbench/cli", "stacks/*"]
exclude = ["stacks/servo"]
[workspace.dependencies]
netbench-worker = { path = "netbench/worker" }
[patch.crates-io]
openssl-src = { path = "stacks/openssl-src" }
[profile.dev.package.ring]
opt-level = 3
[profile.release]
lto = "thin"
[profile.quick.package.ring]
opt-level = 3
"#;
    let package = r#"[package]
name = "netbench-stack-rustls"
[dependencies]
netbench-worker.workspace = true
rustls = { version = "0.23", default-features = false }
[dev-dependencies]
netbench-testing.workspace = true
[[test]]
name = "conformance"
"#;
    for (file, text) in [
        ("Cargo.toml", workspace),
        ("Cargo.lock", "a lock file"),
        ("stacks/rustls/Cargo.toml", package),
        ("stacks/rustls/src/main.rs", "fn main() {}"),
        ("stacks/rustls/src/deep/er.rs", "// one"),
        ("stacks/rustls/tests/conformance.rs", "fn main() {}"),
    ] {
        let path = place.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

#[test]
fn a_version_of_a_package_is_built_in_a_workspace_of_its_own() {
    let place = checkout();
    package(&place);
    alone(&place, "stacks build rustls@0.23.31 aws-lc-rs@1.12.0").expect(0);

    let target = place.path().join("target").display().to_string();
    let updates = log_of(&place, "updates.log");
    let expected = [
        ("rustls@0.23.31", "--workspace"),
        ("rustls@0.23.31", "rustls --precise 0.23.31"),
        ("aws-lc-rs@1.12.0", "--workspace"),
        ("aws-lc-rs@1.12.0", "rustls --precise 0.23.31"),
        ("aws-lc-rs@1.12.0", "rustls-webpki --precise 0.103.4"),
        ("aws-lc-rs@1.12.0", "aws-lc-rs --precise 1.12.0"),
    ]
    .map(|(stack, pin)| {
        format!("update --quiet --manifest-path {target}/{stack}/workspace/Cargo.toml {pin}\n")
    });
    assert_eq!(updates, expected.concat());

    let built = log(&place);
    let line = built.lines().find(|line| line.contains("rustls@")).unwrap();
    for words in [
        "build --locked --release -p netbench-stack-rustls ",
        &format!("--target-dir {target}/rustls@ "),
        "--no-default-features --features ring ",
        &format!("--manifest-path {target}/rustls@0.23.31/workspace/Cargo.toml "),
        "env.NETBENCH_VERSION_OF='rustls'",
    ] {
        assert!(line.contains(words), "{words}: {line}");
    }

    let workspace = place.path().join("target/rustls@0.23.31/workspace");
    let manifest = text(&workspace, "Cargo.toml");
    let root = place.path().display().to_string();
    assert_contains(&manifest, r#"members = ["stacks/rustls"]"#);
    assert_contains(&manifest, &format!("{root}/netbench/worker"));
    assert!(manifest.contains("lto = \"thin\""), "{manifest}");
    for gone in ["servo", "openssl-src", "opt-level"] {
        assert!(!manifest.contains(gone), "{gone}: {manifest}");
    }
    assert_eq!(text(&workspace, "Cargo.lock"), "a lock file");
    let package = text(&workspace, "stacks/rustls/Cargo.toml");
    assert!(package.contains(r#"version = "=0.23.31""#), "{package}");
    assert!(
        !package.contains("testing") && !package.contains("conformance"),
        "{package}"
    );
    assert_eq!(text(&workspace, "stacks/rustls/src/deep/er.rs"), "// one");
    assert!(!workspace.join("stacks/rustls/tests").exists());
}

#[test]
fn a_workspace_follows_the_sources_and_is_not_locked_again() {
    let place = checkout();
    package(&place);
    let build = "stacks build rustls@0.23.31";
    alone(&place, build).expect(0);
    let copied = place
        .path()
        .join("target/rustls@0.23.31/workspace/stacks/rustls");
    let main = fs::metadata(copied.join("src/main.rs")).unwrap();
    let updates = log_of(&place, "updates.log");

    let source = place.path().join("stacks/rustls/src");
    fs::write(source.join("new.rs"), "// two").unwrap();
    fs::remove_dir_all(source.join("deep")).unwrap();
    alone(&place, build).expect(0);
    assert!(copied.join("src/new.rs").is_file() && !copied.join("src/deep").exists());
    let later = fs::metadata(copied.join("src/main.rs")).unwrap();
    assert_eq!(
        later.modified().unwrap(),
        main.modified().unwrap(),
        "what is the same is not written again"
    );
    assert_eq!(log_of(&place, "updates.log"), updates);

    fs::write(place.path().join("Cargo.lock"), "another").unwrap();
    alone(&place, build).expect(0);
    assert_eq!(log_of(&place, "updates.log").len(), 2 * updates.len());
}

#[test]
fn a_history_without_a_build_wants_two_versions_that_are_built() {
    let place = checkout();
    let said = alone(&place, "suite --preset history --stack rustls --no-build")
        .expect(2)
        .stderr;
    let build = "netbench stacks build rustls@0.20 rustls@0.21 rustls@0.22 rustls@0.23.31";
    let last = "rustls@0.23.46 rustls@0.24-dev\n";
    for words in ["needs two versions of rustls that are built", build, last] {
        assert!(said.contains(words), "{words}: {said}");
    }
}

#[test]
fn a_history_builds_its_versions_and_leaves_out_those_that_fail() {
    let place = checkout();
    make(&place, "echo No such instruction >&2; exit 1");
    let said = alone(&place, "suite --preset history --stack openssl")
        .expect(2)
        .stderr;
    for version in ["1.1.1", "3.0", "3.2", "3.5", "3.6", "4.0"] {
        let words = format!("netbench: openssl@{version} is left out: OpenSSL {version}");
        assert!(said.contains(&words), "{words}: {said}");
    }
    assert!(
        said.contains("needs two versions of openssl that are built"),
        "{said}"
    );
}

#[test]
fn without_a_build_the_missing_workers_of_a_preset_are_named() {
    let place = checkout();
    let said = alone(&place, "suite --preset bertie --no-build")
        .expect(2)
        .stderr;
    let words = "--no-build: these workers are not built: ";
    let (_, missing) = said.split_once(words).expect(words);
    assert!(missing.contains("bertie"), "{said}");
    assert_eq!(log_of(&place, "tools/make.log"), "");
}

#[test]
fn a_worker_with_another_lock_file_is_refused() {
    let place = Place::new();
    let usual = Path::new(env!("CARGO_BIN_EXE_netbench")).with_file_name("netbench-worker-rustls");
    let own = format!("rustls@0.23.31={}", usual.display());
    let line = format!("stacks hello --stack rustls@0.23.31 --worker {own}");
    let done = place.netbench_line(&line).expect(1);
    done.tells(" has only rustls-ring, ");
}
