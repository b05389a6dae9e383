//! Coverage and differences in every form, from results small enough to count by hand.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

#[path = "support/forms.rs"]
mod forms;

use forms::{render, terminal};
use netbench_bogo::{
    Catalog, Coverage, Difference, Outcome, Results, RunnerId, ShimConfig, TestResult,
};

fn result(outcome: Outcome, error: &str) -> TestResult {
    TestResult {
        outcome,
        error: error.to_owned(),
    }
}

fn results(tests: &[(&str, Outcome, &str)]) -> Results {
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
    config: ShimConfig,
    one: Results,
    other: Results,
}

/// Two tests that expect success, two that expect failure, one of them proving nothing.
fn case() -> Case {
    use Outcome::{Failed, Passed, Unsupported};
    let null = results(&[
        ("ALPNClient-TLS-TLS13", Failed, "unexpected failure\n"),
        ("ALPNServer-TLS-TLS12", Failed, "unexpected failure\n"),
        ("DTLS-Replay-TLS12", Failed, "unexpected failure\n"),
        ("BadFinished-Client", Failed, "unexpected error\n"),
        ("Garbage", Passed, ""),
    ]);
    let mut config = ShimConfig::default();
    config
        .disabled_tests
        .insert("ALPNServer-*".to_owned(), "missing: TLS 1.2".to_owned());
    config.disabled_tests.insert(
        "BadFinished-*".to_owned(),
        "wording: another alert".to_owned(),
    );
    Case {
        runner: RunnerId {
            package: "boring-sys".to_owned(),
            version: "1.2.3".to_owned(),
            checksum: "00".to_owned(),
        },
        catalog: Catalog::from_null_shim(&null),
        config,
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

fn summed() -> Coverage {
    let case = case();
    let none = ShimConfig::default();
    let shims = [
        ("one", &none, &case.one),
        ("other", &case.config, &case.other),
    ];
    Coverage::sum_up(&case.runner, &case.catalog, &shims, None).unwrap()
}

fn compared() -> Difference {
    let case = case();
    let none = ShimConfig::default();
    Difference::between(
        &case.catalog,
        ("one", &none, &case.one),
        ("other", &case.config, &case.other),
        None,
    )
}

#[test]
fn a_test_that_is_passed_by_doing_nothing_counts_for_no_one() {
    let coverage = summed();
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
    let other = &summed().shims[1];
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
fn coverage_in_every_form() {
    let coverage = summed();
    insta::assert_snapshot!("coverage_terminal", terminal(&coverage, 90));
    insta::assert_snapshot!("coverage_narrow", terminal(&coverage, 40));
    insta::assert_snapshot!("coverage_markdown", render(&coverage, "markdown"));
    insta::assert_snapshot!("coverage_csv", render(&coverage, "csv"));
}

#[test]
fn differences_in_every_form() {
    let difference = compared();
    insta::assert_snapshot!("difference_terminal", terminal(&difference, 120));
    insta::assert_snapshot!("difference_markdown", render(&difference, "markdown"));
    insta::assert_snapshot!("difference_csv", render(&difference, "csv"));
}

#[test]
fn json_is_what_the_schemas_say() {
    for (file, text) in [
        ("bogo-coverage.json", render(&summed(), "json")),
        ("bogo-difference.json", render(&compared(), "json")),
    ] {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../schemas")
            .join(file);
        let schema = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        let value = serde_json::from_str(&text).unwrap();
        jsonschema::validate(&schema, &value).unwrap();
    }
}

#[test]
fn nothing_that_a_terminal_obeys_gets_through() {
    for form in ["terminal", "markdown", "csv", "html"] {
        assert!(!render(&summed(), form).contains('\x1b'));
        assert!(!render(&compared(), form).contains('\x1b'));
    }
}

#[test]
fn results_of_another_runner_are_refused() {
    let mut case = case();
    case.one
        .tests
        .insert("NoSuchTest".to_owned(), result(Outcome::Passed, ""));
    let none = ShimConfig::default();
    let error = Coverage::sum_up(
        &case.runner,
        &case.catalog,
        &[("one", &none, &case.one)],
        None,
    );
    assert!(error.unwrap_err().to_string().contains("NoSuchTest"));
}
