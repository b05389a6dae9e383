//! `netbench bogo` from a user's perspective, without Go and without builds.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::{
    fs,
    path::Path,
    process::{Command, Output},
};

use netbench_bogo::Runner;
use netbench_testing::script;
use tempfile::TempDir;

fn bogo(args: &[&str], path: &str) -> Output {
    let cache = tempfile::tempdir().unwrap();
    bogo_with(cache.path(), args, path)
}

fn bogo_with(cache: &Path, args: &[&str], path: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_netbench"))
        .arg("bogo")
        .args(args)
        .env("XDG_CACHE_HOME", cache)
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
            "unknown shim \"nss\"; expected one of boringssl, openssl, rustls",
        ),
        (&["--shim", "\x1b[31m"], "\\u{1b}[31m"),
        (&["--feature", "telepathy"], "there is no feature"),
        (&["--feature", "TLS"], "TLS 1.3"),
        (&["diff", "rustls", "rustls"], "the two shims are the same"),
        (&["diff", "rustls"], "SECOND"),
        (&["--timeout", "1ms"], "from 1s to 120s"),
        (&["--jobs", "0"], "0"),
        (&["--check", "--accept"], "cannot be used with"),
        (&["--test", "A[", "--stored"], "not a pattern of test names"),
        (&["--stored", "--check"], "cannot be used with"),
    ];
    for (args, word) in cases {
        let output = bogo(args, "/nonexistent");
        let error = said(&output);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {error}");
        assert!(error.contains(word), "{args:?}: {error}");
        assert!(output.stdout.is_empty());
        assert!(!error.contains("Building"), "{error}");
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

/// The lines of the runner to which netbench adds its calls.
const CALLED_FROM: [&str; 3] = [
    "\tshim, err := newShimProcess(dispatcher, shimPath, flags, env)\n",
    "\t\t\treturn errUnimplemented\n",
    "\t\t\t\t\t\ttestOutput.AddSkip(msg.test.name)\n",
];

#[test]
fn a_runner_that_has_other_lines_is_named_and_not_built() {
    let cache = tempfile::tempdir().unwrap();
    let home = cache_with_source(cache.path());
    let path = home.join("source/ssl/test/runner/runner.go");
    fs::write(path, CALLED_FROM[1..].concat()).unwrap();
    let bin = tempfile::tempdir().unwrap();
    script(&bin.path().join("go"), "exit 0");
    let path = bin.path().to_str().unwrap();
    let output = bogo_with(cache.path(), &["--shim", "rustls"], path);
    let error = said(&output);
    assert_eq!(output.status.code(), Some(1), "{error}");
    assert!(
        error.contains("runner.go") && error.contains("newShimProcess"),
        "{error}"
    );
    assert!(!home.join(Runner::program_name()).exists());
}

/// Makes a cache that appears to contain BoringSSL's source, so that nothing is fetched.
fn cache_with_source(cache: &Path) -> std::path::PathBuf {
    let id = Runner::pinned().unwrap();
    let home = format!("{}-{}-{}", id.package, id.version, &id.checksum[..8]);
    let home = cache.join("netbench/bogo").join(home);
    let folder = home.join("source/ssl/test/runner");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("runner.go"), CALLED_FROM.concat()).unwrap();
    home
}

#[test]
fn a_go_that_cannot_get_its_toolchain_is_told_apart_from_a_failed_build() {
    let toolchain = "go: go.mod requires go >= 1.27 (running go 1.24.0; GOTOOLCHAIN=local)";
    let cases = [
        (
            toolchain,
            "which needs the toolchain that BoringSSL's go.mod names",
        ),
        (
            "runner.go:1: syntax error",
            "building the runner failed: runner.go:1",
        ),
    ];
    for (says, word) in cases {
        let cache = tempfile::tempdir().unwrap();
        cache_with_source(cache.path());
        let bin = tempfile::tempdir().unwrap();
        let body = format!("[ $1 = version ] && exit 0\necho '{says}' >&2\nexit 1");
        script(&bin.path().join("go"), &body);
        let path = bin.path().to_str().unwrap();
        let output = bogo_with(cache.path(), &["--shim", "rustls"], path);
        let error = said(&output);
        assert_eq!(output.status.code(), Some(1), "{error}");
        assert!(error.contains(word), "{error}");
    }
}

/// A runner as a shell script, which together with scripts for shims makes all columns except BoringSSL's own.
const RUNNER: &str = r#"
while [ $# -gt 0 ]; do [ "$1" = -json-output ] && out=$2; shift; done
for test in A B C; do printf '%s\tclient\ttls\tTLS13\t\t\t\n' $test; done > "${NETBENCH_BOGO_FACTS:-/dev/null}"
printf '%s' '{"tests": {"A": {"actual": "PASS"}, "B": {"actual": "FAIL", "error": "unexpected failure\n"}, "C": {"actual": "SKIP"}}}' > "$out"
exit 1"#;

/// Makes a target folder with shims in the folder of the command's own profile.
fn target_with_shims() -> TempDir {
    let target = tempfile::tempdir().unwrap();
    let folder = target.path().join(if cfg!(debug_assertions) {
        "debug"
    } else {
        "release"
    });
    fs::create_dir(&folder).unwrap();
    for shim in ["null", "openssl", "rustls"] {
        script(&folder.join(format!("netbench-bogo-{shim}")), "echo No");
    }
    target
}

/// Returns `netbench bogo` with these options and with shims that are built already, one test at a time.
fn bogo_command(cache: &Path, target: &Path, options: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_netbench"));
    command
        .arg("bogo")
        .args(options.split(' '))
        .args(["--jobs", "1"])
        .env("XDG_CACHE_HOME", cache)
        .env("CARGO_TARGET_DIR", target);
    command
}

#[test]
fn without_cmake_or_ninja_the_other_columns_are_shown_and_the_reason() {
    let cache = tempfile::tempdir().unwrap();
    let home = cache_with_source(cache.path());
    script(&home.join(Runner::program_name()), RUNNER);
    let target = target_with_shims();
    let bin = tempfile::tempdir().unwrap();
    for missing in ["cmake", "ninja"] {
        let why = format!("{missing} was not found; BoringSSL's own shim needs it");
        let mut asked_for = bogo_command(cache.path(), target.path(), "--shim boringssl");
        let asked_for = asked_for.env("PATH", bin.path()).output().unwrap();
        assert_eq!(asked_for.status.code(), Some(1), "{}", said(&asked_for));
        assert!(said(&asked_for).contains(&why), "{}", said(&asked_for));

        let mut default = bogo_command(cache.path(), target.path(), "--json");
        let default = default.env("PATH", bin.path()).output().unwrap();
        assert_eq!(default.status.code(), Some(0), "{}", said(&default));
        let coverage: serde_json::Value = serde_json::from_slice(&default.stdout).unwrap();
        let warning = coverage["warnings"][0].as_str().unwrap();
        assert!(warning.contains(&why), "{warning}");
        let shims = coverage["shims"].as_array().unwrap();
        let names: Vec<_> = shims
            .iter()
            .map(|shim| shim["shim"].as_str().unwrap())
            .collect();
        assert_eq!(names, ["openssl", "rustls"]);
        script(&bin.path().join(missing), "exit 0");
    }
}

/// A runner with four tests, which logs its patterns and passes the named tests.
const RUNNER_OF_FOUR: &str = r#"
tests='ALPN-1 ALPN-2 SNI-1 EMS-1'
while [ $# -gt 0 ]; do
    case "$1" in -json-output) out=$2 ;; -test) tests=$(echo "$2" | tr ';' ' '); echo "$2" >> "$XDG_CACHE_HOME/patterns" ;; esac
    shift
done
for test in $tests; do printf '%s\tclient\ttls\tTLS13\t\t\t\n' $test; done > "${NETBENCH_BOGO_FACTS:-/dev/null}"
all=; for test in $tests; do echo "PASSED ($test)"; all="$all,\"$test\": {\"actual\": \"PASS\"}"; done
echo "{\"tests\": {${all#,}}}" > "$out""#;

#[test]
fn one_feature_runs_the_tests_that_it_shows() {
    let cache = tempfile::tempdir().unwrap();
    let home = cache_with_source(cache.path());
    script(&home.join(Runner::program_name()), RUNNER_OF_FOUR);
    let target = target_with_shims();
    for (options, code, patterns, message) in [
        (
            "--feature alpn --shim rustls",
            0,
            "ALPN-1;ALPN-2\n",
            "Running 2 tests",
        ),
        (
            "--feature alpn --test *2 --shim rustls",
            0,
            "ALPN-2\n",
            "Running",
        ),
        (
            "diff openssl rustls --feature alpn",
            0,
            "ALPN-1;ALPN-2\nALPN-1;ALPN-2\n",
            "Running",
        ),
        (
            "--feature alpn --test SNI* --shim rustls",
            2,
            "",
            "is about ALPN",
        ),
        ("--feature alpn --accept", 2, "", "cannot be used with"),
    ] {
        let output = bogo_command(cache.path(), target.path(), options).output();
        let output = output.unwrap();
        let said = said(&output);
        assert_eq!(output.status.code(), Some(code), "{said}");
        assert!(said.contains(message), "{options}: {said}");
        let file = cache.path().join("patterns");
        let ran = fs::read_to_string(&file).unwrap_or_default();
        assert_eq!(ran, patterns, "{options}");
        let _gone = fs::remove_file(file);
    }
}

fn coverage_of(arguments: &[&str]) -> serde_json::Value {
    let coverage = bogo(arguments, "/nonexistent");
    assert_eq!(coverage.status.code(), Some(0), "{}", said(&coverage));
    serde_json::from_slice(&coverage.stdout).unwrap()
}

#[test]
fn stored_outcomes_are_shown_without_go() {
    let stored = ["--stored", "--json", "--shim", "openssl,rustls,rustls-ring"];
    let all = coverage_of(&["--stored", "--json", "--shim", "go,all"]);
    let names: Vec<_> = all["shims"]
        .as_array()
        .unwrap()
        .iter()
        .map(|s| &s["shim"])
        .collect();
    assert_eq!(names.len(), 8, "{names:?}");
    assert_eq!(names[0], "go", "{names:?}");
    let coverage = coverage_of(&stored);
    let shims = coverage["shims"].as_array().unwrap();
    assert_eq!(shims.len(), 3);
    let tests = coverage["tests"].as_u64().unwrap();
    for shim in shims {
        let works = &shim["works"];
        let passed = works["passed"].as_u64().unwrap();
        assert!(passed > 0 && passed < tests, "{works}");
        // Every failure has its reason, including those of one library on other cryptography.
        assert_eq!(
            shim["unexplained"],
            serde_json::json!({}),
            "{}",
            shim["shim"]
        );
    }
    // Stored failures still contain the runner's messages.
    let text = bogo(&["diff", "openssl", "rustls", "--stored"], "/nonexistent");
    let text = String::from_utf8(text.stdout).unwrap();
    assert!(
        text.contains("What rustls does not pass, and openssl does"),
        "{text}"
    );

    let matrix = bogo(&["--matrix", "--stored"], "/nonexistent");
    let text = String::from_utf8(matrix.stdout).unwrap();
    let alpn = text.lines().find(|line| line.contains("ALPN")).unwrap();
    assert!(
        alpn.contains("yes/no") && alpn.contains("yes/yes"),
        "{text}"
    );

    let defects = ["defects", "openssl", "rustls", "--stored", "--json"];
    let defects = bogo(&defects, "/nonexistent");
    let defects: serde_json::Value = serde_json::from_slice(&defects.stdout).unwrap();
    let tests = defects["tests"].as_array().unwrap();
    let mut tests = tests.iter();
    let usage = tests.find(|test| test["test"] == "ECDSAKeyUsage-Client-TLS12");
    assert_eq!(
        usage.unwrap()["judgements"],
        serde_json::json!(["right", "accepted wrongly"])
    );
    let (all, those) = (&defects["among_all"][0], &defects["among_those"][0]);
    assert!(all.as_u64() >= those.as_u64(), "{all} {those}");

    let some = coverage_of(&[&stored[..], &["--test", "ALPN*"]].concat());
    let [some, all] =
        [some, coverage].map(|coverage| coverage["shims"][1]["works"]["passed"].as_u64());
    assert!(some < all);
}

#[test]
fn the_document_of_stacks_has_the_matrix_as_it_is_stored() {
    let document = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/STACKS.md");
    let document = std::fs::read_to_string(document).unwrap();
    let output = bogo(
        &["--matrix", "--stored", "--format", "markdown"],
        "/nonexistent",
    );
    let text = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<_> = text.lines().collect();
    let tables = lines.chunk_by(|line, next| line.starts_with('|') == next.starts_with('|'));
    let tables: Vec<_> = tables.filter(|lines| lines[0].starts_with('|')).collect();
    let [matrix, parts] = tables.as_slice() else {
        panic!("{text}");
    };
    assert!(matrix.len() > 40 && parts.len() > 2, "{text}");
    for table in [matrix, parts] {
        assert!(
            document.contains(&table.join("\n")),
            "docs/STACKS.md has other tables than `netbench bogo --matrix --stored --format markdown`:\n{}",
            table.join("\n")
        );
    }
}
