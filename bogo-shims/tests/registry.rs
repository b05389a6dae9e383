//! Compares the lists of flags that shims accept with the code: a flag that no code looks up is in no list.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use netbench_bogo_shims::flags::{COMMON, IGNORED};

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// Returns the text of a file without its tests.
fn text(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap();
    text.split("#[cfg(test)]").next().unwrap().to_owned()
}

/// Returns all code of a shim but its list of supported flags, and that list.
fn shim(name: &str) -> (String, BTreeSet<String>) {
    let folder = source().join(name);
    let main = text(&folder.join("mod.rs"));
    let (before, rest) = main.split_once("const SUPPORTED: &[&str] = &[").unwrap();
    let (list, after) = rest.split_once("];").unwrap();
    let mut code = format!("{before}{after}");
    let shared = [
        "exchange.rs",
        "options.rs",
        "packeted.rs",
        "quic.rs",
        "socket.rs",
        "reported.rs",
    ];
    let own = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let own = own.filter(|path| !path.ends_with("mod.rs"));
    for path in shared
        .map(|name| source().join(name))
        .into_iter()
        .chain(own)
    {
        code.push_str(&text(&path));
    }
    let flags = list
        .split('"')
        .filter(|word| word.starts_with('-'))
        .map(str::to_owned);
    (code, flags.collect())
}

#[test]
fn every_flag_that_a_shim_accepts_is_asked_for_by_its_code() {
    for name in ["shim_rustls", "shim_openssl"] {
        let (code, own) = shim(name);
        assert!(own.len() > 10, "{name}: {own:?}");
        let common = COMMON.iter().map(|flag| (*flag).to_owned());
        let unread: Vec<String> = common
            .chain(own)
            .filter(|flag| !code.contains(&format!("\"{flag}\"")))
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
        assert!(!COMMON.contains(&flag), "{flag}");
    }
}
