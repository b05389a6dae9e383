//! The decision of an evaluation, part by part: leaving a part out never makes a switch look better.

use std::sync::Arc;

use netbench_model::{PartState, StackName, compat::Judgement};
use netbench_report::{
    Answer, ColdAgainst, ColdRow, ConnectSummary, Evaluation, Found, OnceCost, OnceInterval,
    SuiteSummary, evaluation,
};
use netbench_stats::UndecidedReason;

use crate::support::{
    formats::{assert_has, assert_lacks},
    made_parts,
    whole::{self, MadeCase},
};

/// Returns an evaluation whose questions have no loss, with all of its parts.
fn whole() -> Evaluation {
    evaluation(whole::run(&[]), whole::complete(Found::default()))
}

/// Returns the decision, with which the sentence begins.
fn decision(evaluation: &Evaluation) -> &str {
    let ends: &[char] = if evaluation.sentence.starts_with("Not decided: ") {
        &[';', '.']
    } else {
        &[':']
    };
    evaluation.sentence.split(ends).next().unwrap()
}

#[test]
fn a_part_that_is_missing_leaves_the_decision_open() {
    let whole = whole();
    assert_eq!(decision(&whole), "Switch", "{}", whole.sentence);
    assert_has(&whole.sentence, "nothing is lost");
    type Without = fn(&mut Found);
    let parts: [(&str, Without); 5] = [
        ("protocol support", |found| found.matrix = None),
        ("the reach of the sites", |found| found.losses = None),
        ("compatibility", |found| found.compat = None),
        ("connections", |found| found.connections = None),
        ("speed in memory", |found| found.suites.clear()),
    ];
    // Each subset of the parts.
    for subset in 1..1_u32 << parts.len() {
        let missing = parts.iter().enumerate();
        let missing = missing.filter(|(at, _)| subset & (1 << at) != 0);
        let mut found = whole.found.clone();
        let mut words = Vec::new();
        for (_, (what, without)) in missing {
            without(&mut found);
            words.push(*what);
        }
        let reported = evaluation(whole.run.clone(), found);
        let decided = decision(&reported);
        assert!(
            decided.starts_with("Not decided: "),
            "{}",
            reported.sentence
        );
        assert!(decided.ends_with("not tested"), "{}", reported.sentence);
        for what in words {
            assert_has(decided, what);
        }
        assert_lacks(&reported.sentence, "nothing is lost");
    }
}

#[test]
fn a_loss_stays_one_where_compatibility_was_not_tested() {
    let mut made = whole();
    let worse = made_parts::compat(&[Judgement::Right, Judgement::FalseReject]);
    made.found.compat = Some(Arc::new(worse));
    let with_care = evaluation(made.run.clone(), made.found.clone());
    assert_eq!(decision(&with_care), "Switch with care");
    made.found.compat = None;
    let left_out = evaluation(made.run, made.found);
    assert_eq!(
        decision(&left_out),
        "Not decided: compatibility was not tested"
    );
}

/// Returns a row of first connections that cost `[low, median, high]` milliseconds of wall-clock time, without an
/// interval if all are equal.
fn cold(stack: &str, [low_ms, median_ms, high_ms]: [f64; 3]) -> ColdRow {
    ColdRow {
        stack: StackName::new(stack),
        against: ColdAgainst::SameProcess,
        processes: 20,
        cpu: None,
        wall: OnceCost {
            median_ns: median_ms * 1e6,
            interval: (low_ms < high_ms).then_some(OnceInterval {
                low_ns: low_ms * 1e6,
                high_ns: high_ms * 1e6,
            }),
        },
        causes: None,
    }
}

#[test]
fn first_connections_have_a_limit_of_their_own() {
    let whole = whole();
    use Answer::{Open, WithLosses, Yes};
    // The interval of the new stack in ms; that of the old one is 5 to 7.
    const WITHIN: &str = "within the limit of 100 ms";
    let cases = [
        ([5.0, 6.0, 7.0], Yes, "takes the same time", WITHIN),
        ([1.0, 2.0, 3.0], Yes, "takes 4.00 ms less", WITHIN),
        ([6.0, 6.4, 6.8], Yes, "takes 400 µs longer", WITHIN),
        ([65.0, 70.0, 75.0], Yes, "takes 64.0 ms longer", WITHIN),
        (
            [90.0, 100.0, 120.0],
            Open,
            "takes 94.0 ms longer",
            "contains the limit of 100 ms",
        ),
        (
            [150.0, 200.0, 250.0],
            WithLosses,
            "takes 194 ms longer",
            "beyond the limit of 100 ms",
        ),
        (
            [8.0, 8.0, 8.0],
            Open,
            "takes 2.00 ms longer",
            "too few for the limit of 100 ms",
        ),
    ];
    for (new, answer, takes, judged) in cases {
        let mut found = whole.found.clone();
        let connections: &mut Arc<ConnectSummary> = found.connections.as_mut().unwrap();
        Arc::make_mut(connections).cold = vec![cold("old", [5.0, 6.0, 7.0]), cold("new", new)];
        let reported = evaluation(whole.run.clone(), found);
        let fast = &reported.questions[2];
        assert_eq!(fast.answer, answer, "{}", fast.because);
        let words = format!("{takes} by wall clock, ");
        assert_has(&fast.because, &words);
        assert_has(&fast.because, judged);
        let clause = format!("a process' first connection {takes}");
        assert_has(&reported.sentence, &clause);
    }
}

/// An evaluation measures times and costs in two runs of the suite.
#[test]
fn several_runs_of_the_suite_have_one_verdict() {
    let mut made = whole();
    let quiet = MadeCase::verify(0.5, 0.52);
    let never = MadeCase::handshake(0.5, 0.52).held_back(UndecidedReason::NeverQuiet);
    made.found.suites = [vec![never], vec![quiet]]
        .map(|cases| Arc::new(whole::suite(&cases)))
        .to_vec();
    let evaluation = evaluation(made.run, made.found);
    let fast = &evaluation.questions[2];
    assert_eq!(fast.answer, Answer::Open);
    assert_eq!(
        fast.because.matches("In memory: ").count(),
        1,
        "{}",
        fast.because
    );
    let reported =
        "for verification of a chain. Not decided: client's side of a handshake in memory: 1 case";
    assert_has(&fast.because, reported);
    let open = "; speed in memory is open";
    assert_has(&evaluation.sentence, open);
}

#[test]
fn a_warning_names_the_part_that_it_is_about() {
    let mut made = whole();
    made.run = whole::run(&[("features", PartState::Done)]);
    made.run.plan.parts[0].notes = vec!["these outcomes are stored".to_owned()];
    let cases = [MadeCase::handshake(0.5, 0.52), MadeCase::verify(0.5, 0.52)];
    made.found.suites = cases
        .map(|case| SuiteSummary {
            warnings: vec!["the machine was busy".to_owned()],
            ..whole::suite(&[case])
        })
        .map(Arc::new)
        .to_vec();
    let warnings = evaluation(made.run, made.found).warnings;
    for due in [
        "features: these outcomes are stored",
        "suite (handshake): the machine was busy",
        "suite (verify): the machine was busy",
    ] {
        assert!(warnings.iter().any(|found| found == due), "{warnings:?}");
    }
}

#[test]
fn the_sentence_has_the_part_that_is_slower_in_memory() {
    let cases = [
        (
            [MadeCase::handshake(1.2, 1.3), MadeCase::receive(0.9, 0.92)],
            Some("; in-memory handshake +25 %"),
        ),
        (
            [MadeCase::handshake(1.2, 1.3), MadeCase::receive(1.4, 1.6)],
            Some("; in-memory bulk received +50 %"),
        ),
        (
            [MadeCase::handshake(0.9, 0.92), MadeCase::receive(0.9, 0.92)],
            None,
        ),
    ];
    for (cases, clause) in cases {
        let mut made = whole();
        made.found.suites = vec![Arc::new(whole::suite(&cases))];
        let sentence = evaluation(made.run, made.found).sentence;
        match clause {
            Some(clause) => assert!(sentence.contains(clause), "{sentence}"),
            None => assert!(!sentence.contains("in-memory"), "{sentence}"),
        }
    }
}

/// A stack that supports few of the test servers is not one without breakages.
#[test]
fn servers_that_a_stack_does_not_support_leave_the_decision_open() {
    for (unsupported, decided) in [(0, true), (1, true), (2, false), (9, false), (10, false)] {
        let mut judgements = vec![Judgement::Right; 10 - unsupported];
        judgements.extend(vec![Judgement::Unsupported; unsupported]);
        let found = whole::complete(whole::compatible(&judgements));
        let reported = evaluation(whole::run(&[]), found);
        let works = &reported.questions[1];
        let sentence = &reported.sentence;
        assert_eq!(
            sentence.starts_with("Switch"),
            decided,
            "{unsupported}: {sentence}"
        );
        assert_eq!(
            works.answer == Answer::Open,
            !decided,
            "{unsupported}: {}",
            works.because
        );
    }
}
