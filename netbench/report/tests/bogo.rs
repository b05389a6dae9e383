//! Coverage and differences in every format.

use std::collections::BTreeMap;

use netbench_model::compat::Judgement;
use netbench_model::coverage::{
    Category, Coverage, DefectTest, Defects, Difference, DifferenceGroup, Ending, FeatureRow,
    Matrix, MatrixCell, Protocol, Role, RunnerId, ShimSummary, StackSupport, Support, Tally,
    TestOutcome,
};

use crate::support::formats::{render, terminal};

fn tally(passed: usize, failed: usize, unsupported: usize) -> Tally {
    Tally {
        passed,
        failed,
        unsupported,
    }
}

const CRASHED: &str = "ALPNClient-TLS-TLS13";

/// A line of the runner with control sequences for a terminal.
const LINE: &str = "unexpected failure; shim: DecryptError \x1b[31m; runner: EOF; shim crashed: segmentation fault";

/// Returns the coverage of four tests that count and one that is not conclusive.
fn coverage() -> Coverage {
    let shim = |name: &str| ShimSummary {
        shim: name.to_owned(),
        passed_with_floor: 4,
        works: tally(2, 0, 1),
        passed_less_diagnosis: 1,
        refuses: tally(1, 0, 0),
        explained: BTreeMap::new(),
        unexplained: BTreeMap::new(),
        crashed: BTreeMap::new(),
    };
    let mut other = shim("other");
    other.passed_with_floor = 2;
    (other.works, other.refuses) = (tally(1, 1, 1), tally(0, 1, 0));
    other.explained = [(Category::Missing, 1), (Category::Wording, 1)].into();
    other.unexplained = [(CRASHED.to_owned(), LINE.to_owned())].into();
    let signal = "segmentation fault".to_owned();
    other.crashed = [(CRASHED.to_owned(), Ending::Crashed(signal))].into();
    let row = |feature: &str, works: [Tally; 2], refuses: [Tally; 2]| FeatureRow {
        feature: feature.to_owned(),
        works: works.to_vec(),
        refuses: refuses.to_vec(),
    };
    let none = [Tally::default(); 2];
    Coverage {
        runner: RunnerId {
            package: "boring-sys".to_owned(),
            version: "1.2.3".to_owned(),
            checksum: "00".to_owned(),
        },
        tests: 5,
        floor: 1,
        pattern: None,
        shims: vec![shim("one"), other],
        features: vec![
            row("TLS 1.3", [tally(1, 0, 0), tally(0, 1, 0)], none),
            row("TLS 1.2", [tally(1, 0, 0), tally(0, 0, 1)], none),
            row("DTLS", [tally(0, 0, 1), tally(1, 0, 0)], none),
            row("ALPN", [tally(2, 0, 0), tally(0, 1, 1)], none),
            row("Handshake messages", none, [tally(1, 0, 0), tally(0, 1, 0)]),
            row(
                "DTLS: loss, order, fragments",
                [tally(0, 0, 1), tally(1, 0, 0)],
                none,
            ),
        ],
        warnings: Vec::new(),
    }
}

fn difference() -> Difference {
    use TestOutcome::{Failed, Unsupported};
    let group =
        |feature: &str, outcome, category, why: &str, expect_success, test: &str| DifferenceGroup {
            feature: feature.to_owned(),
            outcome,
            category,
            why: why.to_owned(),
            expect_success,
            tests: vec![test.to_owned()],
        };
    let (missing, wording) = (Some(Category::Missing), Some(Category::Wording));
    Difference {
        first: "one".to_owned(),
        second: "other".to_owned(),
        both: 0,
        neither: 0,
        only_first: vec![
            group("ALPN", Failed, None, LINE, 1, CRASHED),
            group(
                "ALPN",
                Unsupported,
                missing,
                "TLS 1.2",
                1,
                "ALPNServer-TLS-TLS12",
            ),
            group(
                "Handshake messages",
                Failed,
                wording,
                "another alert",
                0,
                "BadFinished-Client",
            ),
        ],
        only_second: vec![group(
            "DTLS: loss, order, fragments",
            Unsupported,
            None,
            "the library's interface has no way to do it",
            1,
            "DTLS-Replay-TLS12",
        )],
    }
}

#[test]
fn coverage_in_every_form() {
    let coverage = coverage();
    insta::assert_snapshot!("coverage_terminal", terminal(&coverage, 90));
    insta::assert_snapshot!("coverage_narrow", terminal(&coverage, 40));
    insta::assert_snapshot!("coverage_markdown", render(&coverage, "markdown"));
    insta::assert_snapshot!("coverage_csv", render(&coverage, "csv"));
}

#[test]
fn differences_in_every_form() {
    let difference = difference();
    insta::assert_snapshot!("difference_terminal", terminal(&difference, 120));
    insta::assert_snapshot!("difference_markdown", render(&difference, "markdown"));
    insta::assert_snapshot!("difference_csv", render(&difference, "csv"));
}

fn shims() -> Vec<String> {
    ["one", "other"].map(str::to_owned).to_vec()
}

/// Returns a feature that is the same in both roles, one that is not, and one of a single role.
fn matrix() -> Matrix {
    use Support::{Absent, NotTestable, Partly, Works};
    let cell = |feature: &str, role, protocol, supports: [Support; 2]| MatrixCell {
        feature: feature.to_owned(),
        role,
        protocol,
        stacks: supports
            .map(|support| StackSupport {
                support,
                passed: 2,
                against: 1,
                apart: 0,
                why: (support != Works).then(|| format!("no \x1b[31m {feature}")),
            })
            .to_vec(),
    };
    let both = |feature, protocol, supports| {
        Role::ALL
            .iter()
            .map(move |role| cell(feature, *role, protocol, supports))
    };
    let mut cells = Vec::new();
    cells.extend(both("ALPN", Protocol::Tls12, [Works, Works]));
    cells.extend(both("ALPN", Protocol::Dtls12, [Works, Absent]));
    cells.push(cell("ECH", Role::Client, Protocol::Tls13, [Absent, Partly]));
    cells.push(cell("ECH", Role::Server, Protocol::Tls13, [Absent, Absent]));
    cells.push(cell(
        "SCT",
        Role::Client,
        Protocol::Tls12,
        [NotTestable, Absent],
    ));
    Matrix {
        runner: coverage().runner,
        shims: shims(),
        cells,
        warnings: Vec::new(),
    }
}

fn defects() -> Defects {
    let test = |test: &str, judgements: [Judgement; 2], why: &str| DefectTest {
        test: test.to_owned(),
        role: Role::Client,
        protocol: Some(Protocol::Tls12),
        sends: "SendUnknown\x1b[31m 0x0001".to_owned(),
        wants: ":X:".to_owned(),
        judgements: judgements.to_vec(),
        causes: judgements
            .iter()
            .map(|judgement| judgement.is_defect().then(|| why.to_owned()))
            .collect(),
        why: why.to_owned(),
    };
    Defects {
        runner: coverage().runner,
        shims: shims(),
        run_by_all: 3,
        among_those: vec![2, 1],
        among_all: vec![2, 4],
        causes_among_those: vec![1, 2],
        causes_among_all: vec![2, 3],
        tests: vec![
            test(
                "A",
                [Judgement::FalseAccept, Judgement::Right],
                "usage is not looked at",
            ),
            test(
                "B",
                [Judgement::FalseAccept, Judgement::Right],
                "usage is not looked at",
            ),
            test(
                "C",
                [Judgement::Unsupported, Judgement::Crashed],
                "it crashes",
            ),
        ],
        warnings: Vec::new(),
    }
}

#[test]
fn the_matrix_and_defects_in_text() {
    insta::assert_snapshot!("matrix_terminal", terminal(&matrix(), 100));
    insta::assert_snapshot!("matrix_markdown", render(&matrix(), "markdown"));
    insta::assert_snapshot!("defects_terminal", terminal(&defects(), 120));
    insta::assert_snapshot!("defects_markdown", render(&defects(), "markdown"));
    let csv = render(&matrix(), "csv");
    assert!(
        csv.contains("not testable") && csv.contains("DTLS 1.2"),
        "{csv}"
    );
}

#[test]
fn json_is_what_the_schemas_say() {
    for (file, text) in [
        ("bogo-coverage.json", render(&coverage(), "json")),
        ("bogo-difference.json", render(&difference(), "json")),
        ("bogo-matrix.json", render(&matrix(), "json")),
        ("bogo-defects.json", render(&defects(), "json")),
    ] {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../schemas")
            .join(file);
        let schema = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        let value = serde_json::from_str(&text).unwrap();
        jsonschema::validate(&schema, &value).unwrap();
    }
}

#[test]
fn nothing_that_a_terminal_obeys_gets_through() {
    for format in ["terminal", "markdown", "csv", "html"] {
        assert!(!render(&coverage(), format).contains('\x1b'));
        assert!(!render(&difference(), format).contains('\x1b'));
        assert!(!render(&matrix(), format).contains('\x1b'));
        assert!(!render(&defects(), format).contains('\x1b'));
    }
}
