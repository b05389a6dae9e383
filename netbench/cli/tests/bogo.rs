//! `netbench bogo` from a user's perspective, without Go and without builds.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use netbench_bogo::{KNOWN_SHIMS, Runner};
use netbench_testing::script;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{Done, Place, assert_contains, finish, text, tree};

/// Runs `netbench bogo` with the programs of one folder.
fn bogo(place: &Place, options: &str, programs: &Path) -> Done {
    let mut command = place.command_line(&format!("bogo {options}"));
    finish(command.env("PATH", programs).env_remove("COLUMNS"))
}

/// Runs `netbench bogo` without any other program.
fn bogo_alone(options: &str) -> Done {
    bogo(&Place::new(), options, Path::new("/nonexistent"))
}

#[test]
fn a_missing_go_is_named_with_where_to_get_it() {
    bogo_alone("--shim rustls")
        .expect(1)
        .tells("go was not found")
        .tells("https://go.dev/dl");
}

/// The lines of the runner to which netbench adds its calls.
const CALLED_FROM: [&str; 3] = [
    "\tshim, err := newShimProcess(dispatcher, shimPath, flags, env)\n",
    "\t\t\treturn errUnimplemented\n",
    "\t\t\t\t\t\ttestOutput.AddSkip(msg.test.name)\n",
];

#[test]
fn a_runner_that_has_other_lines_is_named_and_not_built() {
    let place = Place::new();
    let home = add_source(&place);
    let path = home.join("source/ssl/test/runner/runner.go");
    fs::write(path, CALLED_FROM[1..].concat()).unwrap();
    place.script("go", "exit 0");
    let done = bogo(&place, "--shim rustls", place.path()).expect(1);
    done.tells("runner.go").tells("newShimProcess");
    assert!(!home.join(Runner::program_name()).exists());
}

/// Makes the cache appear to contain BoringSSL's source, which the command then does not fetch.
fn add_source(place: &Place) -> PathBuf {
    let id = Runner::pinned().unwrap();
    let home = format!("{}-{}-{}", id.package, id.version, &id.checksum[..8]);
    let home = place.path().join("cache/netbench/bogo").join(home);
    let folder = home.join("source/ssl/test/runner");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("runner.go"), CALLED_FROM.concat()).unwrap();
    home
}

#[test]
fn a_go_that_cannot_get_its_toolchain_is_told_apart_from_a_failed_build() {
    for (says, word) in [
        (
            "go: go.mod requires go >= 1.27 (running go 1.24.0; GOTOOLCHAIN=local)",
            "which needs the toolchain that BoringSSL's go.mod names",
        ),
        (
            "runner.go:1: syntax error",
            "building the runner failed: runner.go:1",
        ),
    ] {
        let place = Place::new();
        add_source(&place);
        let body = format!("[ $1 = version ] && exit 0\necho '{says}' >&2\nexit 1");
        place.script("go", &body);
        let done = bogo(&place, "--shim rustls", place.path()).expect(1);
        done.tells(word);
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
    for shim in ["null", "openssl", "rustls", "go"] {
        script(&folder.join(format!("netbench-bogo-{shim}")), "echo No");
    }
    target
}

/// Returns `netbench bogo` with these options and with shims that are built already, one test at a time.
fn bogo_command(place: &Place, target: &TempDir, options: &str) -> Command {
    let mut command = place.command_line(&format!("bogo {options} --jobs 1"));
    command.env("CARGO_TARGET_DIR", target.path());
    command
}

#[test]
fn without_cmake_or_ninja_the_other_columns_are_shown_and_the_reason() {
    let place = Place::new();
    let home = add_source(&place);
    script(&home.join(Runner::program_name()), RUNNER);
    let target = target_with_shims();
    let bin = tempfile::tempdir().unwrap();
    for missing in ["cmake", "ninja"] {
        let why = format!("{missing} was not found; BoringSSL's own shim needs it");
        let mut asked_for = bogo_command(&place, &target, "--shim boringssl");
        let done = finish(asked_for.env("PATH", bin.path())).expect(1);
        done.tells(&why);

        let mut default = bogo_command(&place, &target, "--json");
        let coverage = read(&finish(default.env("PATH", bin.path())).expect(0));
        assert_contains(coverage["warnings"][0].as_str().unwrap(), &why);
        assert_eq!(shims(&coverage), ["openssl", "rustls"]);
        script(&bin.path().join(missing), "exit 0");
    }
}

#[test]
fn the_shim_of_another_go_is_built_by_that_toolchain() {
    let place = Place::new();
    let home = add_source(&place);
    script(&home.join(Runner::program_name()), RUNNER);
    let target = target_with_shims();
    place.script(
        "go",
        "echo \"go: download $GOTOOLCHAIN: no network\" >&2\nexit 1",
    );
    let mut command = bogo_command(&place, &target, "--shim go@1.27");
    let done = finish(command.env("PATH", place.path())).expect(1);
    done.tells("go: download go1.27.");
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
    let place = Place::new();
    let home = add_source(&place);
    script(&home.join(Runner::program_name()), RUNNER_OF_FOUR);
    let target = target_with_shims();
    for (options, patterns, message) in [
        (
            "--feature alpn --shim rustls",
            "ALPN-1;ALPN-2\n",
            "Running 2 tests",
        ),
        (
            "--feature alpn --test *2 --shim rustls",
            "ALPN-2\n",
            "Running",
        ),
        (
            "diff openssl rustls --feature alpn",
            "ALPN-1;ALPN-2\nALPN-1;ALPN-2\n",
            "Running",
        ),
    ] {
        let done = finish(&mut bogo_command(&place, &target, options)).expect(0);
        done.tells(message);
        let file = place.path().join("cache/patterns");
        assert_eq!(fs::read_to_string(&file).unwrap(), patterns, "{options}");
        fs::remove_file(file).unwrap();
    }
    let other = "--feature alpn --test SNI* --shim rustls";
    let done = finish(&mut bogo_command(&place, &target, other)).expect(2);
    done.tells("is about ALPN");
}

fn read(done: &Done) -> Value {
    crate::support::json(&done.stdout)
}

/// Returns the names of the shims in a document.
fn shims(coverage: &Value) -> Vec<&str> {
    let shims = coverage["shims"].as_array().unwrap().iter();
    shims.map(|shim| shim["shim"].as_str().unwrap()).collect()
}

#[test]
fn stored_outcomes_are_shown_without_go() {
    let stored = "--stored --json --shim openssl,rustls,rustls-ring";
    let all = read(&bogo_alone("--stored --json --shim go,all").expect(0));
    let names = shims(&all);
    assert_eq!(
        (names.len(), names[0]),
        (KNOWN_SHIMS.len(), "go"),
        "{names:?}"
    );
    let coverage = read(&bogo_alone(stored).expect(0));
    let shims = coverage["shims"].as_array().unwrap();
    assert_eq!(shims.len(), 3);
    let tests = coverage["tests"].as_u64().unwrap();
    for shim in shims {
        let works = &shim["works"];
        let passed = works["passed"].as_u64().unwrap();
        assert!(passed > 0 && passed < tests, "{works}");
        // Every failure has its reason, including those of one library on other cryptography.
        assert_eq!(shim["unexplained"], json!({}), "{}", shim["shim"]);
    }
    // Stored failures still contain the runner's messages.
    bogo_alone("diff openssl rustls --stored")
        .prints("What rustls does not pass, and openssl does");

    let text = bogo_alone("--matrix --stored").stdout;
    let alpn = text.lines().find(|line| line.contains("ALPN")).unwrap();
    assert_contains(alpn, "yes/no");
    assert_contains(alpn, "yes/yes");

    let defects = read(&bogo_alone("defects openssl rustls --stored --json"));
    let tests = defects["tests"].as_array().unwrap();
    let mut tests = tests.iter();
    let usage = tests.find(|test| test["test"] == "ECDSAKeyUsage-Client-TLS12");
    let judgements = &usage.unwrap()["judgements"];
    assert_eq!(*judgements, json!(["right", "accepted wrongly"]));
    let (all, those) = (&defects["among_all"][0], &defects["among_those"][0]);
    assert!(all.as_u64() >= those.as_u64(), "{all} {those}");

    let some = read(&bogo_alone(&format!("{stored} --test ALPN*")).expect(0));
    let [some, all] =
        [some, coverage].map(|coverage| coverage["shims"][1]["works"]["passed"].as_u64());
    assert!(some < all);
}

#[test]
fn the_document_of_stacks_has_the_matrix_as_it_is_stored() {
    let document = text(tree(), "docs/STACKS.md");
    let text = bogo_alone("--matrix --stored --format markdown").stdout;
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
