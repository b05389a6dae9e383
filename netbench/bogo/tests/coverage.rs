//! Tests of coverage and differences, from results small enough to count by hand.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs;

use netbench_bogo::{
    BogoError, Catalog, Results, ShimConfig, ShimResults, TestResult, coverage_of,
    difference_between,
};
use netbench_model::coverage::{Coverage, Difference, RunnerId, TestOutcome};

fn result(outcome: TestOutcome, error: &str) -> TestResult {
    TestResult {
        outcome,
        error: error.to_owned(),
    }
}

fn results(tests: &[(&str, TestOutcome, &str)]) -> Results {
    let tests = tests
        .iter()
        .map(|(name, outcome, error)| ((*name).to_owned(), result(*outcome, error)));
    Results {
        tests: tests.collect(),
    }
}

fn failure(child: &str) -> String {
    format!(
        "unexpected failure\ngot:\n\tstderr:\n\t\tDecryptError \x1b[31m\n\n\tlocal: \"EOF\"\n\tchild: \"{child}\"\n\tstdout: \n"
    )
}

struct Case {
    runner: RunnerId,
    catalog: Catalog,
    none: ShimConfig,
    config: ShimConfig,
    one: Results,
    other: Results,
}

/// Returns results of two tests that expect success, and of two that expect failure, one of which
/// proves nothing.
fn case() -> Case {
    use TestOutcome::{Failed, Passed, Unsupported};
    let null = results(&[
        ("ALPNClient-TLS-TLS13", Failed, "unexpected failure\n"),
        ("ALPNServer-TLS-TLS12", Failed, "unexpected failure\n"),
        ("DTLS-Replay-TLS12", Failed, "unexpected failure\n"),
        ("BadFinished-Client", Failed, "unexpected error\n"),
        ("Garbage", Passed, ""),
    ]);
    let facts: String = null
        .tests
        .keys()
        .map(|name| format!("{name}\tclient\ttls\tTLS13\t\t\t\n"))
        .collect();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("other.json");
    let reasons =
        r#"{"ALPNServer-*": "missing: TLS 1.2", "BadFinished-*": "wording: another alert"}"#;
    fs::write(&path, format!(r#"{{"DisabledTests": {reasons}}}"#)).unwrap();
    Case {
        runner: RunnerId {
            package: "boring-sys".to_owned(),
            version: "1.2.3".to_owned(),
            checksum: "00".to_owned(),
        },
        catalog: Catalog::from_null_shim(&null, &facts).unwrap(),
        none: ShimConfig::default(),
        config: ShimConfig::read(&path, None).unwrap(),
        one: results(&[
            ("ALPNClient-TLS-TLS13", Passed, ""),
            ("ALPNServer-TLS-TLS12", Passed, ""),
            ("DTLS-Replay-TLS12", Unsupported, ""),
            ("BadFinished-Client", Passed, ""),
            ("Garbage", Passed, ""),
        ]),
        other: results(&[
            (
                "ALPNClient-TLS-TLS13",
                Failed,
                &failure("signal: segmentation fault"),
            ),
            ("ALPNServer-TLS-TLS12", Failed, &failure("exit status 1")),
            ("DTLS-Replay-TLS12", Passed, ""),
            ("BadFinished-Client", Failed, &failure("exit status 1")),
            ("Garbage", Passed, ""),
        ]),
    }
}

impl Case {
    fn one(&self) -> ShimResults<'_> {
        ShimResults {
            shim: "one",
            config: &self.none,
            results: &self.one,
        }
    }

    fn other(&self) -> ShimResults<'_> {
        ShimResults {
            shim: "other",
            config: &self.config,
            results: &self.other,
        }
    }

    fn coverage(&self, only: Option<&str>) -> Result<Coverage, BogoError> {
        let shims = [self.one(), self.other()];
        coverage_of(&self.runner, &self.catalog, &shims, only)
    }

    fn difference(&self) -> Difference {
        difference_between(&self.catalog, self.one(), self.other(), None)
    }
}

#[test]
fn a_test_that_is_passed_by_doing_nothing_counts_for_no_one() {
    let coverage = case().coverage(None).unwrap();
    let one = &coverage.shims[0];
    assert_eq!(coverage.floor, 1);
    assert_eq!(
        (one.works.passed, one.works.unsupported, one.refuses.passed),
        (2, 1, 1)
    );
    assert_eq!(one.passed_with_floor, 4);
}

#[test]
fn what_a_library_lacks_is_unsupported_and_a_crash_is_named() {
    let other = &case().coverage(None).unwrap().shims[1];
    assert_eq!(
        (
            other.works.passed,
            other.works.failed,
            other.works.unsupported
        ),
        (1, 1, 1)
    );
    assert_eq!(other.explained.values().sum::<usize>(), 2);
    assert_eq!(other.unexplained.len(), 1);
    assert!(other.crashed.contains_key("ALPNClient-TLS-TLS13"));
}

#[test]
fn one_feature_alone_has_one_row() {
    let coverage = case().coverage(Some("ALPN")).unwrap();
    let features: Vec<_> = coverage.features.iter().map(|row| &row.feature).collect();
    assert_eq!(features, ["ALPN"]);
    assert_eq!(coverage.shims[0].works.total(), 2);
}

#[test]
fn differences_are_grouped_and_defects_come_before_other_words() {
    insta::assert_debug_snapshot!(case().difference());
}

#[test]
fn results_of_another_runner_are_refused() {
    let mut case = case();
    let passed = result(TestOutcome::Passed, "");
    case.one.tests.insert("NoSuchTest".to_owned(), passed);
    let error = case.coverage(None).unwrap_err().to_string();
    assert!(error.contains("NoSuchTest"), "{error}");
}
