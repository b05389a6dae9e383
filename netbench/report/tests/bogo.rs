//! Coverage and differences in every format.

use std::collections::BTreeMap;

use netbench_model::compat::Judgement;
use netbench_model::coverage::{
    Category, Coverage, DefectTest, Defects, Difference, DifferenceGroup, Ending, FeatureRow,
    Matrix, MatrixCell, Protocol, Role, RunnerId, ShimSummary, StackSupport, Support, Tally,
    TestOutcome,
};

use crate::support::formats::{assert_harmless, assert_json, render, terminal};

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
    let one = ShimSummary {
        shim: "one".to_owned(),
        passed_with_floor: 4,
        works: tally(2, 0, 1),
        passed_less_diagnosis: 1,
        refuses: tally(1, 0, 0),
        explained: BTreeMap::new(),
        unexplained: BTreeMap::new(),
        crashed: BTreeMap::new(),
    };
    let signal = "segmentation fault".to_owned();
    let other = ShimSummary {
        shim: "other".to_owned(),
        passed_with_floor: 2,
        works: tally(1, 1, 1),
        refuses: tally(0, 1, 0),
        explained: [(Category::Missing, 1), (Category::Wording, 1)].into(),
        unexplained: [(CRASHED.to_owned(), LINE.to_owned())].into(),
        crashed: [(CRASHED.to_owned(), Ending::Crashed(signal))].into(),
        ..one.clone()
    };
    let none = [Tally::default(); 2];
    let features = [
        ("TLS 1.3", [tally(1, 0, 0), tally(0, 1, 0)], none),
        ("TLS 1.2", [tally(1, 0, 0), tally(0, 0, 1)], none),
        ("DTLS", [tally(0, 0, 1), tally(1, 0, 0)], none),
        ("ALPN", [tally(2, 0, 0), tally(0, 1, 1)], none),
        ("Handshake messages", none, [tally(1, 0, 0), tally(0, 1, 0)]),
        (
            "DTLS: loss, order, fragments",
            [tally(0, 0, 1), tally(1, 0, 0)],
            none,
        ),
    ];
    let features = features.map(|(feature, works, refuses)| FeatureRow {
        feature: feature.to_owned(),
        works: works.to_vec(),
        refuses: refuses.to_vec(),
    });
    Coverage {
        runner: RunnerId {
            package: "boring-sys".to_owned(),
            version: "1.2.3".to_owned(),
            checksum: "00".to_owned(),
        },
        tests: 5,
        floor: 1,
        pattern: None,
        shims: vec![one, other],
        features: features.into(),
        warnings: Vec::new(),
    }
}

fn difference() -> Difference {
    use TestOutcome::{Failed, Unsupported};
    let groups = [
        ("ALPN", Failed, None, LINE, 1, CRASHED),
        (
            "ALPN",
            Unsupported,
            Some(Category::Missing),
            "TLS 1.2",
            1,
            "ALPNServer-TLS-TLS12",
        ),
        (
            "Handshake messages",
            Failed,
            Some(Category::Wording),
            "another alert",
            0,
            "BadFinished-Client",
        ),
        (
            "DTLS: loss, order, fragments",
            Unsupported,
            None,
            "the library's interface has no way to do it",
            1,
            "DTLS-Replay-TLS12",
        ),
    ];
    let groups = groups.map(
        |(feature, outcome, category, why, successes, test)| DifferenceGroup {
            feature: feature.to_owned(),
            outcome,
            category,
            why: why.to_owned(),
            expect_success: successes,
            tests: vec![test.to_owned()],
        },
    );
    Difference {
        first: "one".to_owned(),
        second: "other".to_owned(),
        both: 0,
        neither: 0,
        only_first: groups[..3].to_vec(),
        only_second: groups[3..].to_vec(),
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
    use Protocol::{Dtls12, Tls12, Tls13};
    use Role::{Client, Server};
    use Support::{Absent, NotTestable, Partly, Works};
    let cells = [
        ("ALPN", Client, Tls12, [Works, Works]),
        ("ALPN", Server, Tls12, [Works, Works]),
        ("ALPN", Client, Dtls12, [Works, Absent]),
        ("ALPN", Server, Dtls12, [Works, Absent]),
        ("ECH", Client, Tls13, [Absent, Partly]),
        ("ECH", Server, Tls13, [Absent, Absent]),
        ("SCT", Client, Tls12, [NotTestable, Absent]),
    ];
    let cells = cells.map(|(feature, role, protocol, supports)| MatrixCell {
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
    });
    Matrix {
        runner: coverage().runner,
        shims: shims(),
        cells: cells.into(),
        warnings: Vec::new(),
    }
}

fn defects() -> Defects {
    use Judgement::{Crashed, FalseAccept, Right, Unsupported};
    let tests = [
        ("A", [FalseAccept, Right], "usage is not looked at"),
        ("B", [FalseAccept, Right], "usage is not looked at"),
        ("C", [Unsupported, Crashed], "it crashes"),
    ];
    let tests = tests.map(|(test, judgements, why)| DefectTest {
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
    });
    Defects {
        runner: coverage().runner,
        shims: shims(),
        run_by_all: 3,
        among_those: vec![2, 1],
        among_all: vec![2, 4],
        causes_among_those: vec![1, 2],
        causes_among_all: vec![2, 3],
        tests: tests.into(),
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
    assert_json(&coverage(), "bogo-coverage.json");
    assert_json(&difference(), "bogo-difference.json");
    assert_json(&matrix(), "bogo-matrix.json");
    assert_json(&defects(), "bogo-defects.json");
}

#[test]
fn nothing_that_a_terminal_obeys_gets_through() {
    assert_harmless(&coverage());
    assert_harmless(&difference());
    assert_harmless(&matrix());
    assert_harmless(&defects());
}
