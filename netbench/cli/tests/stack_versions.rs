//! Stacks with a version in their names, such as `openssl@3.0`: how their libraries and workers are built.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

#[path = "support/checkout.rs"]
mod checkout;
mod support;

use std::{
    fs,
    path::{Path, PathBuf},
};

use checkout::{alone, command_alone, log, log_of};
use support::{Place, finish};

/// A checkout with scripts in the place of what compiles OpenSSL.
fn checkout(place: &Place) {
    checkout::checkout(place);
    place.script("tools/cc", "echo cc 1");
    let perl = r#"echo "$*" >> "$(dirname "$0")"/perl.log
for argument; do
    case "$argument" in --prefix=*) echo "${argument#--prefix=}" > prefix ;; esac
done"#;
    place.script("tools/perl", perl);
    make(place, "");
}

/// Has `make` do this when it is to compile.
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

/// What there is of OpenSSL in the cache.
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
    let place = Place::new();
    checkout(&place);
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
        assert!(
            fetched.contains(&format!("version = \"{package}\"")),
            "{fetched}"
        );
        assert!(
            fetched.contains(&format!("checksum = \"{checksum}")),
            "{fetched}"
        );
    }
    let options = log_of(&place, "tools/perl.log");
    let options: Vec<&str> = options.lines().collect();
    assert!(options[0].contains(" no-module "), "{options:?}");
    assert!(!options[1].contains(" no-module "), "{options:?}");
    assert!(
        options[1].contains(" enable-ec_nistp_64_gcc_128"),
        "{options:?}"
    );

    let built = log(&place);
    let lines: Vec<&str> = built.lines().collect();
    assert_eq!(lines.len(), 3, "{built}");
    let shared = format!(
        "--target-dir {}/openssl@ ",
        place.path().join("target").display()
    );
    assert!(lines[0].contains(&shared), "{built}");
    assert!(lines[0].contains("env.NETBENCH_OPENSSL='3.0'"), "{built}");
    assert!(lines[1].contains("/openssl@+jemalloc "), "{built}");
    assert!(lines[2].contains("env.NETBENCH_OPENSSL='1.1.1'"), "{built}");
    let cache = place
        .path()
        .join("cache/netbench/workers")
        .join(env!("CARGO_PKG_VERSION"));
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

#[test]
fn a_failed_compilation_leaves_its_log_and_nothing_else() {
    let place = Place::new();
    checkout(&place);
    make(&place, "echo one.c:1: no space left >&2; exit 2");
    let done = alone(&place, "stacks build openssl@3.2 go").expect(1);
    let logs = || {
        cached(&place)
            .into_iter()
            .find(|path| has_extension(path, "log"))
    };
    let kept = logs().unwrap();
    for words in [
        "OpenSSL 3.2.1 was not built: make build_libs failed; its log is ",
        &kept.display().to_string(),
        "one.c:1: no space left",
        "not built: openssl@3.2\n",
    ] {
        assert!(done.stderr.contains(words), "{words}: {}", done.stderr);
    }
    assert!(done.stdout.starts_with("go: "), "{}", done.stdout);
    assert!(fs::read_to_string(kept).unwrap().contains("no space left"));
    let folders = cached(&place).into_iter().filter(|path| path.is_dir());
    assert_eq!(folders.count(), 0, "{:?}", cached(&place));
    assert_eq!(log(&place), "", "no worker without its library");

    make(&place, "");
    alone(&place, "stacks build openssl@3.2").expect(0);
    assert_eq!(logs(), None);
}

#[test]
fn what_cannot_be_built_is_said_before() {
    let place = Place::new();
    checkout(&place);
    let cases = [
        (
            "stacks build openssl@9.9",
            "openssl has no version \"9.9\"; it has 1.1.1, 3.0, 3.2, 3.5, 3.6, 4.0",
        ),
        (
            "connect --stack openssl@3.0.8,openssl",
            "openssl has no version \"3.0.8\"; it has",
        ),
        (
            "stacks build rustls-ring@0.23",
            "rustls-ring has no versions to choose from; openssl has",
        ),
        (
            "stacks build openssl@3.0+novae",
            "openssl@3.0 has no variant \"+novae\"",
        ),
    ];
    for (line, expected) in cases {
        let said = alone(&place, line).expect(2).stderr;
        assert!(said.contains(expected), "{line}: {said}");
    }
    for tool in ["perl", "make"] {
        fs::remove_file(place.path().join("tools").join(tool)).unwrap();
    }
    let mut command = command_alone(&place, "stacks build openssl@3.0");
    command.env("PATH", place.path().join("tools"));
    let said = finish(&mut command).expect(1).stderr;
    assert!(said.contains("not here: perl, make\n"), "{said}");
    assert_eq!(log(&place), "");
}

#[test]
fn versions_are_listed_and_built_only_by_name() {
    let place = Place::new();
    checkout(&place);
    let said = alone(&place, "stacks").expect(0).stdout;
    assert!(
        said.contains("netbench stacks build openssl@4.0 builds it"),
        "{said}"
    );
    let done = alone(&place, "stacks build --all").expect(1);
    assert!(!done.stdout.contains("openssl@"), "{}", done.stdout);
    assert!(!place.path().join("cache/netbench/openssl").exists());
}
