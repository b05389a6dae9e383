//! Compares the lists of flags that shims accept with the code: a flag that no code looks up is in no list.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use netbench_bogo_shims::flags::{Flag, IGNORED, TABLE};

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// Returns the text of a file without its tests.
fn text(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap();
    text.split("#[cfg(test)]").next().unwrap().to_owned()
}

/// The shim of the next line of rustls, in its own workspace.
const NEXT_LINE: &str = "rustls-dev";

/// The flags that the shim of the next line need not read: tests with them have a list of ECH's configurations, which it
/// refuses, because ring has no HPKE.
const BEHIND_ECH: [&str; 2] = ["-expect-ech-retry-configs", "-expect-no-ech-retry-configs"];

/// Returns all code of the shim of a stack.
fn code(stack: &str) -> String {
    let own = if stack == NEXT_LINE {
        source().join("..").join(stack).join("src")
    } else {
        source().join(format!("shim_{stack}"))
    };
    let is_of_rustls = [NEXT_LINE, "rustls"].contains(&stack);
    let of_rustls = is_of_rustls.then(|| source().join("of_rustls"));
    let common = [
        "exchange.rs",
        "expected.rs",
        "options.rs",
        "packeted.rs",
        "quic.rs",
        "socket.rs",
        "reported.rs",
    ];
    let common = common.map(|name| source().join(name));
    let folders = of_rustls.into_iter().chain([own]);
    let in_folders = folders.flat_map(|folder| fs::read_dir(folder).unwrap());
    let in_folders = in_folders.map(|entry| entry.unwrap().path());
    let all = common.into_iter().chain(in_folders);
    all.map(|path| text(&path)).collect()
}

#[test]
fn the_table_is_sorted_and_has_no_wrong_line() {
    let names: Vec<_> = Flag::all().map(|flag| flag.name).collect();
    let lines = TABLE.lines().map(|line| line.split('\t').next().unwrap());
    assert_eq!(names, lines.collect::<Vec<_>>());
    assert!(names.is_sorted_by(|one, next| one < next));
    for line in TABLE.lines() {
        let columns: Vec<&str> = line.split('\t').collect();
        let [name, _, shims, concerns] = columns[..] else {
            panic!("{line:?} has not four columns");
        };
        assert!(name.starts_with('-'), "{line}");
        let all_of = |text: &str, words: &[&str]| {
            text == "-" || text.split(',').all(|word| words.contains(&word))
        };
        assert!(all_of(shims, &["go", "openssl", "rustls"]), "{line}");
        let kinds = ["client", "server", "later", "credential"];
        assert!(all_of(concerns, &kinds), "{line}");
    }
}

#[test]
fn every_flag_that_a_shim_accepts_is_asked_for_by_its_code() {
    for (name, column) in [
        ("rustls", "rustls"),
        (NEXT_LINE, "rustls"),
        ("openssl", "openssl"),
    ] {
        let code = code(name);
        let own = Flag::all().filter(|flag| flag.is_supported_by(column));
        let own: Vec<_> = own.map(|flag| flag.name).collect();
        assert!(own.len() > 100, "{name}: {own:?}");
        let unread: Vec<_> = own
            .into_iter()
            .filter(|flag| !code.contains(&format!("\"{flag}\"")))
            .filter(|flag| name != NEXT_LINE || !BEHIND_ECH.contains(flag))
            // A flag that begins a credential is read as part of the list.
            .filter(|flag| !(flag.ends_with("-credential") && code.contains(".credentials()")))
            .collect();
        assert!(
            unread.is_empty(),
            "{name} accepts, and never reads: {unread:?}"
        );
    }
}

#[test]
fn what_is_ignored_has_a_kind_and_a_reason_and_no_shim_accepts_it_as_common() {
    for line in IGNORED.lines() {
        let columns: Vec<&str> = line.split('\t').collect();
        let [flag, kind, shims, why] = columns[..] else {
            panic!("{line:?} has not four columns");
        };
        assert!(shims == "*" || shims.contains("rustls"), "{line}");
        assert!(["diagnostic", "verification"].contains(&kind), "{line}");
        assert!(flag.starts_with('-') && why.len() > 20, "{line}");
        let shims = ["openssl", "rustls"];
        let is_common = |known: Flag| shims.iter().all(|shim| known.is_supported_by(shim));
        let known = Flag::all().find(|known| known.name == flag);
        assert!(!known.is_some_and(is_common), "{flag}");
    }
}

/// Returns the versions of each package in the text of a lock file.
fn versions(lock: &str) -> BTreeMap<&str, BTreeSet<&str>> {
    let mut versions: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
    let mut lines = lock.lines();
    while let Some(line) = lines.next() {
        let named = line.strip_prefix("name = ");
        if let (Some(name), Some(line)) = (named, named.and_then(|_| lines.next())) {
            let version = line.strip_prefix("version = ").unwrap();
            versions.entry(name).or_default().insert(version);
        }
    }
    versions
}

#[test]
fn the_next_line_of_rustls_has_the_other_crates_of_the_shims_and_the_rustls_of_its_worker() {
    let tree = source().join("../..");
    let [common, own] = ["Cargo.lock", "bogo-shims/rustls-dev/Cargo.lock"]
        .map(|path| fs::read_to_string(tree.join(path)).unwrap());
    let (common, own) = (versions(&common), versions(&own));
    assert!(own.len() > 20, "{own:?}");
    for (name, own) in own {
        let differs = common.get(name).is_some_and(|known| !own.is_subset(known));
        assert!(!differs || name.contains("\"rustls"), "{name}: {own:?}");
    }
    let [shim, worker] = ["bogo-shims", "stacks"].map(|folder| {
        let path = tree.join(folder).join("rustls-dev/Cargo.toml");
        let manifest = fs::read_to_string(path).unwrap();
        let lines = manifest.lines();
        let mut rustls: Vec<_> = lines.filter(|line| line.starts_with("rustls")).collect();
        rustls.retain(|line| line.contains('='));
        rustls.join("\n")
    });
    assert_eq!(shim, worker);
}
