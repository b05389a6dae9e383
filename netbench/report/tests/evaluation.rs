//! Verdicts of an evaluation, from parts small enough to verify by hand.

use std::collections::BTreeMap;

use std::sync::Arc;

use netbench_model::compat::Judgement;
use netbench_model::coverage::{
    Category, Coverage, DefectTest, Defects, FeatureRow, HANDSHAKE, Matrix, MatrixCell, Protocol,
    Role, ShimSummary, StackSupport, Support, Tally,
};
use netbench_model::{Condition, Group, Losses, PartState, Profile, StackName};
use netbench_report::{Answer, ConnectSummary, EvaluationReport, Exclusion, Found, evaluation};

use crate::browser::servos;
use crate::support::{
    formats::{assert_emulated, assert_has, assert_json, render, terminal},
    whole::{self, complete, connected, connections, failure, run as manifest, runner},
};

/// Returns a scan that handshakes confirmed, with a control sequence for a terminal in the details.
fn losses(both: u64, lost: u64) -> Losses {
    let mut losses = whole::losses(both, lost);
    losses.confirmed = lost;
    for site in &mut losses.lost {
        site.detail = "\x1b[31mTLS_RSA_WITH_AES_128_CBC_SHA".to_owned();
    }
    losses
}

fn tally(passed: usize, failed: usize, unsupported: usize) -> Tally {
    Tally {
        passed,
        failed,
        unsupported,
    }
}

/// Returns the features of `old` and `new`: a version that `new` lacks, and a feature of each kind in the version
/// that both have.
fn matrix() -> Matrix {
    use Protocol::{Tls10, Tls12};
    use Role::{Client, Server};
    use Support::{Absent, NotTestable, Partly, Works};
    let cells = [
        (HANDSHAKE, Client, Tls10, [Works, Absent]),
        (HANDSHAKE, Server, Tls10, [Works, Absent]),
        (HANDSHAKE, Client, Tls12, [Works, Works]),
        (HANDSHAKE, Server, Tls12, [Works, Works]),
        ("ALPN", Client, Tls10, [Works, Absent]),
        ("ALPN", Server, Tls10, [Works, Absent]),
        ("ALPN", Client, Tls12, [Works, Works]),
        ("ALPN", Server, Tls12, [Works, Works]),
        ("Renegotiation", Client, Tls12, [Works, Absent]),
        ("RSA key exchange", Client, Tls12, [Partly, Absent]),
        ("RSA key exchange", Server, Tls12, [Partly, Absent]),
        ("0-RTT", Client, Tls12, [Works, Partly]),
        ("0-RTT", Server, Tls12, [Partly, Works]),
        ("SCT", Client, Tls12, [Works, NotTestable]),
        ("ECH", Client, Tls12, [Absent, Works]),
    ];
    let cells = cells.map(|(feature, role, protocol, supports)| MatrixCell {
        feature: feature.to_owned(),
        role,
        protocol,
        stacks: supports
            .map(|support| StackSupport {
                support,
                passed: 1,
                against: 0,
                apart: 0,
                why: (support == Absent).then(|| format!("missing: {feature}")),
            })
            .to_vec(),
    });
    Matrix {
        runner: runner(),
        shims: vec!["old".to_owned(), "new".to_owned()],
        cells: cells.into(),
        warnings: Vec::new(),
    }
}

fn defects(before: usize, after: usize) -> Defects {
    Defects {
        runner: runner(),
        shims: vec!["old".to_owned(), "new".to_owned()],
        run_by_all: 12,
        among_those: vec![before, after],
        among_all: vec![before + 5, after],
        causes_among_those: Vec::new(),
        causes_among_all: Vec::new(),
        tests: vec![DefectTest {
            test: "Crashing".to_owned(),
            role: Role::Client,
            protocol: Some(Protocol::Tls12),
            sends: String::new(),
            wants: String::new(),
            judgements: vec![Judgement::Crashed, Judgement::Crashed],
            why: String::new(),
            causes: Vec::new(),
        }],
        warnings: Vec::new(),
    }
}

fn coverage(defects: (usize, usize)) -> Coverage {
    let shims = [("old", defects.0), ("new", defects.1)].map(|(name, defects)| ShimSummary {
        shim: name.to_owned(),
        passed_with_floor: 10,
        works: tally(5, defects, 5),
        passed_less_diagnosis: 0,
        refuses: tally(5, 0, 0),
        explained: BTreeMap::from([(Category::Defect, defects)]),
        unexplained: BTreeMap::new(),
        crashed: BTreeMap::new(),
    });
    let features = [("TLS 1.3", 3, 2), ("RSA key exchange", 3, 0)];
    let features = features.map(|(feature, old, new)| FeatureRow {
        feature: feature.to_owned(),
        works: vec![tally(old, 0, 0), tally(new, 0, 1)],
        refuses: vec![tally(0, 0, 0), tally(0, 0, 0)],
    });
    Coverage {
        runner: runner(),
        tests: 20,
        floor: 1,
        pattern: None,
        shims: shims.into(),
        features: features.into(),
        warnings: Vec::new(),
    }
}

/// Returns the answer to whether it works.
fn works(
    connections: &ConnectSummary,
    defects: Option<Defects>,
    contradicted: Option<&str>,
) -> Answer {
    let losses = Losses {
        contradicted: contradicted.into_iter().map(str::to_owned).collect(),
        ..losses(101, 0)
    };
    let found = complete(Found {
        connections: Some(Arc::new(connections.clone())),
        defects,
        losses: Some(losses),
        ..Found::default()
    });
    evaluation(manifest(&[("sites", PartState::Done)]), found).questions[1].answer
}

/// Returns a site that is left out because of other work.
fn exclusion(site: &str, condition: Condition) -> Exclusion {
    Exclusion {
        site: site.to_owned(),
        condition,
        other: StackName::new("new"),
        why: "group X25519MLKEM768 / x25519".to_owned(),
        pairs: 6,
    }
}

#[test]
fn browsers_are_a_question_only_where_they_were_asked() {
    let mut run = manifest(&[(
        "browsers",
        PartState::Unsupported {
            why: "chromium is not installed".to_owned(),
        },
    )]);
    assert_eq!(evaluation(run.clone(), Found::default()).questions.len(), 3);
    run.plan.browsers = vec!["chromium".to_owned()];
    let reported = evaluation(run, Found::default());
    let question = &reported.questions[3];
    assert_eq!(question.answer, Answer::Open);
    assert_eq!(
        question.because,
        "No browser was asked: chromium is not installed."
    );
}

#[test]
fn page_loads_of_two_servos_are_compared_where_their_handshakes_are_alike() {
    let groups = [
        [Group::X25519, Group::X25519],
        [Group::X25519MLKEM768, Group::X25519],
    ];
    let [alike, apart] = groups.map(|groups| {
        let mut run = manifest(&[]);
        run.plan.browsers = vec!["servo+openssl".to_owned(), "servo".to_owned()];
        let found = Found {
            visits: Some(Arc::new(servos(groups))),
            ..Found::default()
        };
        evaluation(run, found).questions.swap_remove(3)
    });
    let due = "A page of servo beside servo+openssl: faster, -3.4 %";
    assert_has(&alike.because, due);
    let due =
        "because their handshakes differ: x25519, a page in 63.0 ms with servo, X25519MLKEM768";
    assert_has(&apart.because, due);
    let open = "page loads of servo and servo+openssl: their handshakes differ";
    assert!(
        apart.missing.iter().any(|missing| missing == open),
        "{apart:?}"
    );
}

#[test]
fn the_first_question_speaks_of_the_web_and_of_the_sites_that_were_given() {
    let [built_in, given] = [None, Some("mine.txt")].map(|sites_file| {
        let mut run = manifest(&[]);
        run.plan.sites_file = sites_file.map(str::to_owned);
        let web = netbench_interop::WebLoss {
            model: "web-2026".to_owned(),
            per_million: 1_760.2,
            low: 0.0,
            high: 82_200.0,
            sources: vec!["rustls-2021".to_owned()],
        };
        let found = Found {
            losses: Some(losses(101, 0)),
            web: Some(web),
            ..Found::default()
        };
        evaluation(run, complete(found)).questions.swap_remove(0)
    });
    assert_eq!(built_in.answer, Answer::Open, "{}", built_in.because);
    assert_has(&built_in.because, "contains the limit of 5 %");
    assert_eq!(built_in.figures[2].value, "open");
    let figure = &built_in.figures[0];
    assert_eq!(figure.value, "1,760 (0 to 82,200)");
    assert_has(&figure.label, "web-2026");
    assert_has(&figure.label, "rustls-2021");
    for (question, is_missing) in [(&built_in, true), (&given, false)] {
        let mut missing = question.missing.iter();
        let found = missing.any(|line| line.starts_with("your sites"));
        assert_eq!(found, is_missing);
    }
    assert_eq!(
        (given.answer, given.figures[0].value.as_str()),
        (Answer::Yes, "0 of 101")
    );
}

#[test]
fn connections_and_defects_decide_whether_it_works() {
    let without_connections = Found {
        connections: None,
        ..complete(Found::default())
    };
    let reported = evaluation(manifest(&[]), without_connections);
    assert_eq!(reported.questions[1].answer, Answer::Open);
    let well = connections(&[(0.99, 1.005)]);
    for (defects, contradicted, answer) in [
        (None, None, Answer::Yes),
        (Some(defects(3, 3)), None, Answer::Yes),
        (Some(defects(3, 4)), None, Answer::WithLosses),
        (None, Some("a.example: it failed"), Answer::WithLosses),
    ] {
        assert_eq!(works(&well, defects, contradicted), answer);
    }
    let wrong = "a.example with new did not go as predicted: predicted 1.3, seen 1.2";
    let found = Found {
        connections: Some(Arc::new(well.clone())),
        losses: Some(Losses {
            contradicted: vec![wrong.to_owned()],
            ..losses(101, 0)
        }),
        ..Found::default()
    };
    let reported = evaluation(manifest(&[("sites", PartState::Done)]), found);
    assert_eq!(
        reported.questions[1].breaks,
        [wrong.replace("a.example", "a.example (emulated)")]
    );
    let mut failing = well;
    failing.failures = vec![failure("a", "new", "alert"), failure("a", "old", "alert")];
    let of_both = works(&failing, None, None);
    assert_eq!(of_both, Answer::Yes, "it fails with both");
    let all = (0..failing.run.sites).map(|number| failure(&format!("d{number}"), "old", "alert"));
    let dead = ConnectSummary {
        failures: all.collect(),
        ..failing.clone()
    };
    let without_sites = works(&dead, None, None);
    assert_eq!(without_sites, Answer::Open, "no site is left");
    failing.failures.push(failure("b", "new", "alert"));
    let found = connected(failing.clone());
    let reported = evaluation(manifest(&[("sites", PartState::Done)]), found);
    assert!(
        reported.questions[1].because.starts_with(
            "2,017 of 2,020 connections to 101 sites were finished: 1 site failed with new where old has no failure. \
             1 site failed with old already, and is not counted."
        ),
        "{}",
        reported.questions[1].because
    );
    assert_eq!(works(&failing, None, None), Answer::WithLosses);
    let many = (0..20).map(|number| failure(&format!("c{number}"), "new", "alert"));
    failing.failures.extend(many);
    assert_eq!(works(&failing, None, None), Answer::No);
}

#[test]
fn connections_that_did_other_work_are_not_called_too_few() {
    let mut summary = connections(&[]);
    summary.run.client_profile = Some(Profile::Library);
    summary.left_out = vec![exclusion("a.example", Condition::Clean)];
    let found = connected(summary);
    let reported = evaluation(
        manifest(&[("connections", PartState::Done)]),
        complete(found),
    );
    assert_eq!(
        reported.questions[2].because,
        "old and new did not agree on the same with any site (group X25519MLKEM768 / x25519), and connections with different \
         work are not compared: `--client-profile default` has both offer the same."
    );
}

/// The answer rests on the times with the same settings, not on those with the stacks' own settings.
#[test]
fn connections_with_the_same_settings_decide_where_the_others_did_other_work() {
    let mut own = connections(&[]);
    own.run.client_profile = Some(Profile::Library);
    let [old, new] = ["old", "new"].map(StackName::new);
    own.left_out = vec![exclusion("a.example", Condition::Cold)];
    assert!(!own.did_other_work(&old, &new), "first connections alone");
    own.left_out = vec![exclusion("a.example", Condition::Clean)];
    assert!(own.did_other_work(&old, &new));
    let mut mixed = connections(&[(0.98, 1.01)]);
    mixed.left_out = own.left_out.clone();
    assert!(!mixed.did_other_work(&old, &new), "one site of many");

    let [fast, neither] = [&[(0.98, 1.01)][..], &[]].map(|totals| {
        let mut pinned = connections(totals);
        pinned.run.client_profile = Some(Profile::Default);
        let found = Found {
            connections: Some(Arc::new(own.clone())),
            same_settings: Some(Arc::new(pinned)),
            ..Found::default()
        };
        let reported = evaluation(
            manifest(&[("connections", PartState::Done)]),
            complete(found),
        );
        reported.questions[2].clone()
    });
    assert_eq!(fast.answer, Answer::Yes);
    assert!(
        fast.because.ends_with(
            "Times are of connections with the same settings for both (`--client-profile default`): with their own settings \
             they agree on different things with most sites (group X25519MLKEM768 / x25519)."
        ),
        "{}",
        fast.because
    );
    assert_eq!(neither.answer, Answer::Open);
    assert!(
        neither
            .because
            .ends_with("with the same settings for both there was nothing to compare either."),
        "{}",
        neither.because
    );
}

fn report() -> EvaluationReport {
    let failed = PartState::Failed {
        why: "no \x1b[31mspace".to_owned(),
    };
    let parts = [
        ("features", PartState::Done),
        ("sites", PartState::Done),
        ("connections", PartState::Done),
        ("suite", failed),
    ];
    let found = Found {
        matrix: Some(matrix()),
        defects: Some(defects(3, 4)),
        coverage: Some(coverage((3, 4))),
        losses: Some(losses(98, 3)),
        connections: Some(Arc::new(connections(&[(0.98, 1.01)]))),
        ..Found::default()
    };
    whole::report(evaluation(manifest(&parts), found))
}

#[test]
fn an_evaluation_in_every_form() {
    let evaluation = report();
    assert_emulated(&evaluation);
    let wide = terminal(&evaluation, 100);
    insta::assert_snapshot!("evaluation_terminal", wide);
    let narrow = terminal(&evaluation, 40);
    insta::assert_snapshot!("evaluation_narrow", narrow);
    let markdown = render(&evaluation, "markdown");
    insta::assert_snapshot!("evaluation_markdown", markdown);
    let csv = render(&evaluation, "csv");
    for format in [&wide, &narrow, &markdown, &csv] {
        assert!(!format.contains('\x1b'));
    }
    assert_has(
        &csv,
        "questions,,,,Does new support what the sites need?,answer,with-losses,",
    );
    assert_json(&evaluation, "evaluation.json");
}
