//! Coverage and differences in every form, from results small enough to count by hand.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use netbench_bogo::{
    Catalog, Coverage, Difference, Outcome, Results, RunnerId, ShimConfig, TestResult,
};
use netbench_report::{
    Document, csv, json, markdown,
    terminal::{self, Style},
};

/// A form of a report.
#[derive(Clone, Copy)]
enum Form {
    Terminal(usize),
    Markdown,
    Csv,
}

fn render(report: &impl Document, form: Form) -> String {
    text(match form {
        Form::Terminal(width) => terminal::render(report, width, Style::Plain),
        Form::Markdown => markdown::render(report),
        Form::Csv => csv::render(report),
    })
}

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

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap()
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
    let coverage_of = |form| render(&summed(), form);
    insta::assert_snapshot!("coverage_terminal", coverage_of(Form::Terminal(90)));
    insta::assert_snapshot!("coverage_narrow", coverage_of(Form::Terminal(40)));
    insta::assert_snapshot!("coverage_markdown", coverage_of(Form::Markdown));
    insta::assert_snapshot!("coverage_csv", coverage_of(Form::Csv));
}

#[test]
fn differences_in_every_form() {
    let difference_of = |form| render(&compared(), form);
    insta::assert_snapshot!("difference_terminal", difference_of(Form::Terminal(120)));
    insta::assert_snapshot!("difference_markdown", difference_of(Form::Markdown));
    insta::assert_snapshot!("difference_csv", difference_of(Form::Csv));
}

#[test]
fn json_is_what_the_schemas_say() {
    for (file, bytes) in [
        ("bogo-coverage.json", json::render(&summed())),
        ("bogo-difference.json", json::render(&compared())),
    ] {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../schemas")
            .join(file);
        let schema = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        let value = serde_json::from_slice(&bytes).unwrap();
        jsonschema::validate(&schema, &value).unwrap();
    }
}

#[test]
fn nothing_that_a_terminal_obeys_gets_through() {
    for form in [Form::Terminal(90), Form::Markdown, Form::Csv] {
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
