//! `netbench bogo` as its users see it, where it needs neither Go nor a build.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::process::{Command, Output};

fn bogo(args: &[&str], path: &str) -> Output {
    let cache = tempfile::tempdir().unwrap();
    Command::new(env!("CARGO_BIN_EXE_netbench"))
        .arg("bogo")
        .args(args)
        .env("XDG_CACHE_HOME", cache.path())
        .env("PATH", path)
        .output()
        .unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[test]
fn wrong_input_is_named_before_anything_is_built() {
    let cases: &[(&[&str], &str)] = &[
        (
            &["--shim", "nss"],
            "there is no shim of \"nss\"; there are boringssl, openssl, rustls",
        ),
        (&["--shim", "\x1b[31m"], "\\u{1b}[31m"),
        (&["--feature", "telepathy"], "is not one feature's name"),
        (&["--feature", "TLS"], "TLS 1.3"),
        (&["diff", "rustls", "rustls"], "does not differ from itself"),
        (&["diff", "rustls"], "SECOND"),
        (&["--timeout", "1ms"], "from 1s to 120s"),
        (&["--jobs", "0"], "0"),
        (&["--check", "--accept"], "cannot be used with"),
    ];
    for (args, word) in cases {
        let output = bogo(args, "/nonexistent");
        let error = said(&output);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {error}");
        assert!(error.contains(word), "{args:?}: {error}");
        assert!(output.stdout.is_empty());
        assert!(!error.contains("building"), "{error}");
    }
}

#[test]
fn a_missing_go_is_named_with_where_to_get_it() {
    let output = bogo(&["--shim", "rustls"], "/nonexistent");
    let error = said(&output);
    assert_eq!(output.status.code(), Some(1), "{error}");
    assert!(
        error.contains("go was not found") && error.contains("https://go.dev/dl"),
        "{error}"
    );
}
