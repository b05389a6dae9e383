//! Tests of stored outcomes of a shim, and of differences from them.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs;

use netbench_bogo::{
    Baseline, Catalog, Departure, KnownShim, Results, ShimConfig, TestResult, outcomes_path, store,
};
use netbench_model::coverage::{RunnerId, TestOutcome};

fn runner() -> RunnerId {
    let words = ["boring-sys", "1.2.3", "abc"].map(str::to_owned);
    let [package, version, checksum] = words;
    RunnerId {
        package,
        version,
        checksum,
    }
}

fn results(tests: &[(&str, TestOutcome)]) -> Results {
    Results {
        tests: tests
            .iter()
            .map(|(name, outcome)| ((*name).to_owned(), result(*outcome)))
            .collect(),
    }
}

fn result(outcome: TestOutcome) -> TestResult {
    TestResult {
        outcome,
        error: String::new(),
    }
}

/// Returns the runner's facts of these tests.
fn facts(results: &Results) -> String {
    let names = results.tests.keys();
    names
        .map(|name| format!("{name}\tserver\ttls\tTLS12\t-async -curves\t:X:\tOmit 0x0001\n"))
        .collect()
}

/// Adds a test whose outcome varies.
fn with_chance(mut results: Results, outcome: TestOutcome) -> Results {
    let name = "Shuffled".to_owned();
    results.tests.insert(name, result(outcome));
    results
}

fn read(text: &str) -> Result<Baseline, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("shim.tsv");
    fs::write(&path, text).unwrap();
    Baseline::read(&path).map_err(|error| error.to_string())
}

#[test]
fn what_is_written_is_read_again() {
    let before = results(&[
        ("A", TestOutcome::Passed),
        ("B", TestOutcome::Failed),
        ("C", TestOutcome::Unsupported),
    ]);
    let baseline = Baseline::of(&runner(), None, &before);
    assert_eq!(read(&baseline.to_text()).unwrap(), baseline);
    assert_eq!(baseline.runner_id(), Some(runner()));
}

#[test]
fn a_stored_failure_keeps_the_runners_words() {
    let errors = [
        "unexpected success\n",
        "unexpected failure\ngot:\n\tstderr:\n\t\tOh \x1b[31m\tno\n\n\tlocal: \"EOF\"\n\tchild: \"exit status 1\"\n",
        "unexpected failure\ngot:\n\tlocal: \"EOF\"\n\tchild: \"signal: killed\"\n",
        "unexpected failure\ngot:\n\tlocal: \"EOF\"\n\tchild: \"signal: segmentation fault\"\n",
    ];
    for error in errors {
        let failed = TestResult {
            outcome: TestOutcome::Failed,
            error: error.to_owned(),
        };
        let mut results = results(&[]);
        results.tests.insert("A".to_owned(), failed.clone());
        let again = read(&Baseline::of(&runner(), None, &results).to_text()).unwrap();
        let again = &again.results().tests["A"];
        assert_eq!(again.line(), netbench_model::sanitize(&failed.line()));
        assert_eq!(again.ending(), failed.ending());
    }
}

#[test]
fn what_tests_expect_is_read_again() {
    let null = results(&[("A", TestOutcome::Passed), ("B", TestOutcome::Failed)]);
    let catalog = Catalog::from_null_shim(&null, &facts(&null)).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tests.tsv");
    fs::write(&path, catalog.to_text()).unwrap();
    assert_eq!(Catalog::read(&path).unwrap(), catalog);
    let about = catalog.about("A").unwrap();
    assert_eq!(about.flags, ["-async", "-curves"]);
    assert!(Catalog::from_null_shim(&null, "A\tclient\n").is_err());
    let missing = Catalog::from_null_shim(&null, "").unwrap_err();
    assert!(missing.to_string().contains("there are none"), "{missing}");
    for text in [
        "",
        "A\n",
        "A\tsuccess\n",
        "A\tsuccess\tpeer\ttls\tTLS12\t\t\t\n",
        "A\tsuccess\tclient\ttls\tTLS12\t\t\t",
    ] {
        fs::write(&path, text).unwrap();
        let error = Catalog::read(&path).unwrap_err().to_string();
        assert!(error.contains("tests.tsv"), "{error}");
    }
}

#[test]
fn a_file_that_is_not_whole_or_not_ours_is_named() {
    let text = Baseline::of(&runner(), None, &results(&[("A", TestOutcome::Passed)])).to_text();
    let cases = [
        (text.trim_end(), "cut short"),
        ("", "first line"),
        ("A\tpassed\n", "first line"),
        (&text.replace("passed", "\x1b[31m"), "line 2"),
        (&format!("{text}A\tfailed\n"), "line 3: A is there twice"),
        (&text.replace('\t', " "), "line 2"),
    ];
    for (text, word) in cases {
        let error = read(text).unwrap_err();
        assert!(
            error.contains(word) && error.contains("shim.tsv"),
            "{text:?}: {error}"
        );
        assert!(!error.contains('\x1b'));
    }
}

/// Returns the outcomes of a shim, and those of another version of its library: one test changes, one is new, and one
/// is gone.
fn versions() -> (Baseline, Baseline) {
    let of_base = results(&[
        ("A", TestOutcome::Passed),
        ("B", TestOutcome::Failed),
        ("C", TestOutcome::Unsupported),
        ("D", TestOutcome::Passed),
    ]);
    let of_version = results(&[
        ("A", TestOutcome::Passed),
        ("B", TestOutcome::Passed),
        ("C", TestOutcome::Unsupported),
        ("E", TestOutcome::Failed),
    ]);
    (
        Baseline::of(&runner(), Some("go1.1"), &of_base),
        Baseline::of(&runner(), Some("go1.2"), &of_version),
    )
}

/// Reads differences from the outcomes of `go`.
fn read_version(of_base: &str, differences: &str) -> Result<Baseline, String> {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("go.tsv"), of_base).unwrap();
    let path = folder.path().join("version.tsv");
    fs::write(&path, differences).unwrap();
    Baseline::read(&path).map_err(|error| error.to_string())
}

#[test]
fn differences_from_another_shim_are_read_as_all_outcomes() {
    let (base, version) = versions();
    let text = version.differences_to_text("go", &base);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        [&lines[..2], &lines[3..]].concat(),
        [
            "# runner: boring-sys 1.2.3 abc",
            "# library: go1.2",
            "B\tpassed",
            "D\tabsent",
            "E\tfailed"
        ]
    );
    assert_eq!(read_version(&base.to_text(), &text).unwrap(), version);
    let same = base.differences_to_text("go", &base);
    assert_eq!(same.lines().count(), 3);
    assert_eq!(read_version(&base.to_text(), &same).unwrap(), base);
}

#[test]
fn damaged_differences_are_refused_with_their_file_and_line() {
    let (base, version) = versions();
    let (whole, text) = (base.to_text(), version.differences_to_text("go", &base));
    let stored = "line 3: the outcomes are not those that were stored";
    let cases = [
        (whole.clone(), text.replace("B\tpassed\n", ""), stored),
        (whole.clone(), text.replace("E\tfailed\n", ""), stored),
        (
            whole.clone(),
            text.replace("B\tpassed", "B\tfailed"),
            stored,
        ),
        (whole.clone(), text.replace("go1.2", "go1.3"), stored),
        (
            whole.replace("A\tpassed", "A\tfailed"),
            text.clone(),
            stored,
        ),
        (whole.clone(), text.replace("E\tfailed", "E\tfai"), "line 6"),
        (
            whole.clone(),
            text.replace("E\t", "B\t"),
            "line 6: B is there twice",
        ),
        (
            whole.clone(),
            text.trim_end().to_owned(),
            "it was cut short",
        ),
        (
            whole.clone(),
            text.replace(": go ", ": none "),
            "line 3: there is no shim none",
        ),
        (
            whole.clone(),
            text.replace(": go ", ": "),
            "line 3: expected a shim and a checksum",
        ),
        (
            text.clone(),
            text.clone(),
            "line 3: go has differences itself",
        ),
    ];
    for (base, text, why) in cases {
        let error = read_version(&base, &text).unwrap_err();
        let place = format!("version.tsv: {why}");
        assert!(error.contains(&place), "{error} has not {place}");
    }
    let error = read_version(&whole.replace('\t', " "), &text).unwrap_err();
    assert!(error.contains("go.tsv: line 3: expected a test"), "{error}");
    let error = read("# runner: a b c\nA\tabsent\n").unwrap_err();
    assert!(error.contains("shim.tsv: line 2"), "{error}");
}

#[test]
fn new_outcomes_of_a_shim_do_not_change_those_that_are_stored_as_differences() {
    let (base, version) = versions();
    let tree = tempfile::tempdir().unwrap();
    let tree = tree.path();
    let [of_old, of_new] = ["openssl", "openssl@4.0"].map(|name| tree.join(outcomes_path(name)));
    fs::create_dir_all(tree.join("results/bogo")).unwrap();
    let [old, new] = ["openssl", "openssl@4.0"].map(|name| KnownShim::named(name).unwrap());
    let error = store(tree, new, &version).unwrap_err().to_string();
    assert!(error.contains("openssl.tsv"), "{error}");
    store(tree, old, &base).unwrap();
    store(tree, new, &version).unwrap();
    let before = fs::read_to_string(&of_new).unwrap();
    assert!(before.contains("# differences from: openssl "), "{before}");
    store(tree, old, &version).unwrap();
    assert_eq!(Baseline::read(&of_old).unwrap(), version);
    assert_eq!(Baseline::read(&of_new).unwrap(), version);
    assert_ne!(fs::read_to_string(&of_new).unwrap(), before);
}

#[test]
fn departures_are_found() {
    let before = results(&[
        ("A", TestOutcome::Passed),
        ("B", TestOutcome::Failed),
        ("C", TestOutcome::Failed),
        ("D", TestOutcome::Unsupported),
        ("E", TestOutcome::Unsupported),
        ("H", TestOutcome::Failed),
    ]);
    let now = results(&[
        ("A", TestOutcome::Unsupported),
        ("B", TestOutcome::Passed),
        ("C", TestOutcome::Passed),
        ("D", TestOutcome::Failed),
        ("E", TestOutcome::Failed),
        ("F", TestOutcome::Failed),
        ("G", TestOutcome::Failed),
        ("H", TestOutcome::Failed),
    ]);
    let before = with_chance(before, TestOutcome::Passed);
    let now = with_chance(now, TestOutcome::Failed);
    let catalog = Catalog::from_null_shim(&now, &facts(&now)).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("shim.json");
    let reasons = r#"{"B": "defect: b", "E": "defect: e", "G": "defect: g", "Shuffled": "chance: s", "Z*": "defect: z"}"#;
    fs::write(&path, format!(r#"{{"DisabledTests": {reasons}}}"#)).unwrap();
    let config = ShimConfig::read(&path, None).unwrap();
    let baseline = Baseline::of(&runner(), None, &before);
    let departures = baseline.departures(&runner(), &catalog, &config, &now);
    let kinds: Vec<_> = departures
        .iter()
        .map(|departure| match departure {
            Departure::NoLongerPasses { test, .. } => format!("worse {test}"),
            Departure::NewFailure { test, before, .. } => {
                format!("new {test} {}", before.map_or("-", TestOutcome::name))
            }
            Departure::DisabledTestPasses { test, .. } => format!("passes {test}"),
            Departure::IdlePattern { pattern, .. } => format!("idle {pattern}"),
            Departure::OtherRunner { .. } => "runner".to_owned(),
        })
        .collect();
    assert_eq!(
        kinds,
        [
            "worse A",
            "passes B",
            "new D unsupported",
            "new E unsupported",
            "new F -",
            "idle Z*"
        ]
    );

    let other = RunnerId {
        version: "2".to_owned(),
        ..runner()
    };
    let departures = baseline.departures(&other, &catalog, &config, &now);
    assert!(matches!(
        departures.as_slice(),
        [Departure::OtherRunner { .. }]
    ));
}
