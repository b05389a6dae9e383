//! Tests with a runner that misbehaves: a shell script in place of the real one.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use netbench_bogo::{BogoError, RunOptions, Runner, run};
use netbench_model::coverage::{RunnerId, TestOutcome};
use netbench_testing::script;

const WORKS: &str = r#"
while [ $# -gt 0 ]; do [ "$1" = -json-output ] && out=$2; shift; done
echo "PASSED (A)"; echo "FAILED (B)"; echo "unexpected failure"; echo "UNIMPLEMENTED (C)"
cat > "$out" <<'END'
{"tests": {"A": {"actual": "PASS"}, "B": {"actual": "FAIL", "error": "unexpected failure\n"}, "C": {"actual": "SKIP", "error": "unsupported: flag -x\n"}}}
END
exit 1"#;

/// Runs `runner` with `shim`, and returns the result and the reported tests.
fn go(
    runner: &str,
    shim: &str,
) -> (
    Result<netbench_bogo::Results, BogoError>,
    Vec<(String, TestOutcome)>,
) {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("runner");
    script(&program, runner);
    let shim_program = folder.path().join("shim");
    script(&shim_program, shim);
    let words = ["p", "1", "c"].map(str::to_owned);
    let [package, version, checksum] = words;
    let made = Runner {
        id: RunnerId {
            package,
            version,
            checksum,
        },
        program,
        folder: folder.path().to_owned(),
        source: folder.path().to_owned(),
        home: folder.path().to_owned(),
        stop: Arc::default(),
    };
    let options = RunOptions {
        name: "shim".to_owned(),
        program: shim_program,
        config: None,
        tests: Some("X*".to_owned()),
        skip: Vec::new(),
        jobs: 1,
        idle: Duration::from_secs(5),
        extra: Vec::new(),
        facts: None,
    };
    let mut heard = Vec::new();
    let output = folder.path().join("out.json");
    let result = run(&made, &options, &output, &mut |name, outcome| {
        if name == "Stop" {
            made.stop.store(true, Ordering::Relaxed);
        }
        heard.push((name.to_owned(), outcome));
    });
    assert_eq!(output.is_file(), result.is_ok());
    assert!(!output.with_extension("tmp").exists(), "nothing is left");
    (result, heard)
}

#[test]
fn a_runner_that_is_stopped_ends_with_what_it_has_started() {
    let (result, heard) = go("sleep 600 & echo 'PASSED (Stop)'; wait", "echo No");
    assert!(matches!(result, Err(BogoError::Stopped)), "{result:?}");
    assert_eq!(heard.len(), 1);
}

#[test]
fn results_and_progress_are_read() {
    let (result, heard) = go(WORKS, "echo No");
    let results = result.unwrap();
    assert_eq!(results.count(TestOutcome::Failed), 1);
    assert_eq!(results.tests["C"].line(), "unsupported: flag -x");
    let names: Vec<_> = heard.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["A", "B", "C"]);
}

#[test]
fn a_runner_that_misbehaves_is_told_of() {
    let cases = [
        (
            "echo 'PASSED (A)'; echo 'panic: oh' >&2; exit 2",
            "panic: oh",
        ),
        ("kill -SEGV $$", "signal"),
        ("exit 0", "died"),
        ("echo 'No tests run' >&2; exit 1", "X*"),
        (&WORKS.replace("'\n{", "'\n{{"), "not the runner's results"),
    ];
    for (runner, word) in cases {
        let (result, _) = go(runner, "echo Yes");
        let error = result.unwrap_err().to_string();
        assert!(error.contains(word), "{runner}: {error}");
    }
}

#[test]
fn a_shim_that_is_none_is_found_before_thousands_of_tests_fail() {
    for shim in ["exit 3", "echo maybe", "kill -SEGV $$"] {
        let (result, heard) = go(WORKS, shim);
        assert!(matches!(result, Err(BogoError::NoShim { .. })), "{shim}");
        assert!(heard.is_empty());
    }
}
