//! Thresholds that a user sets, and the answers that follow from them.

use netbench_model::{NamedThreshold, Part, Thresholds, compat::Judgement};
use netbench_report::{Answer, Evaluation, Found, Question, Report, evaluation};

use crate::support::{
    formats::assert_has,
    made::Made,
    whole::{self, MadeCase, compatible, measured, scanned},
};

/// Returns the thresholds of an option's value.
fn thresholds(named: &str) -> Thresholds {
    let named = named.split(',').filter(|text| !text.is_empty());
    named
        .map(|text| text.parse::<NamedThreshold>().unwrap())
        .collect()
}

/// Answers the questions with these thresholds.
fn judged(found: Found, named: &str) -> Evaluation {
    let mut run = whole::run(&[]);
    run.thresholds = thresholds(named);
    evaluation(run, found)
}

fn card(found: Found, named: &str, number: usize) -> Question {
    judged(whole::complete(found), named)
        .questions
        .swap_remove(number)
}

fn connected(totals: &[(f64, f64)]) -> Found {
    whole::connected(whole::connections(totals))
}

fn lost(sites: u64) -> Found {
    scanned(whole::losses(100 - sites, sites))
}

fn handshake(low: f64) -> Found {
    measured(&[MadeCase::handshake(low, low * 1.01)])
}

/// Returns a suite whose process needs this multiple of memory.
fn memory(ratio: f64) -> Found {
    measured(&[
        MadeCase::handshake(0.9, 0.91),
        MadeCase {
            part: Part::Memory,
            measure: netbench_model::Measure::Peak,
            ..MadeCase::handshake(ratio, ratio * 1.001)
        },
    ])
}

#[test]
fn answers_follow_the_thresholds() {
    use Answer::{No, Open, WithLosses, Yes};
    const SUPPORTS: usize = 0;
    const WORKS: usize = 1;
    const FAST: usize = 2;
    let slower = connected(&[(1.08, 1.12)]);
    let near = connected(&[(1.02, 1.08)]);
    let one_of_two = connected(&[(1.08, 1.12), (0.99, 1.01)]);
    let wrongly = compatible(&[Judgement::Right, Judgement::FalseAccept]);
    let cases: [(Found, &str, usize, Answer); 32] = [
        (slower.clone(), "", FAST, No),
        (slower.clone(), "connection-time=15%", FAST, Yes),
        (slower.clone(), "connection-time=5%..20%", FAST, WithLosses),
        (slower.clone(), "connection-time=5%..8%", FAST, No),
        (slower.clone(), "connection-time=5%..", FAST, WithLosses),
        (slower.clone(), "connection-time=10%", FAST, Open),
        (near.clone(), "", FAST, Open),
        (near.clone(), "connection-time=8%", FAST, Yes),
        (near.clone(), "connection-time=1%", FAST, No),
        (one_of_two.clone(), "", FAST, WithLosses),
        (one_of_two.clone(), "connection-time=15%", FAST, Yes),
        (handshake(1.3), "", FAST, WithLosses),
        (handshake(1.3), "in-memory=50%..900%", FAST, Yes),
        (handshake(1.3), "in-memory=5%..20%", FAST, No),
        (handshake(9.0), "", FAST, WithLosses),
        (handshake(10.0), "", FAST, No),
        (handshake(39.0), "in-memory=5%..", FAST, WithLosses),
        (memory(1.2), "", FAST, WithLosses),
        (memory(1.2), "memory=25%..900%", FAST, Yes),
        (memory(1.2), "in-memory=25%..900%", FAST, WithLosses),
        (memory(1.2), "memory=10%", FAST, No),
        (lost(0), "lost-sites=0%", SUPPORTS, Yes),
        (lost(1), "", SUPPORTS, WithLosses),
        (lost(1), "lost-sites=1%", SUPPORTS, Yes),
        (lost(1), "lost-sites=0%..1%", SUPPORTS, No),
        (lost(5), "", SUPPORTS, No),
        (lost(5), "lost-sites=0%..5.1%", SUPPORTS, WithLosses),
        (wrongly.clone(), "", WORKS, WithLosses),
        (wrongly.clone(), "false-accepts=1..2", WORKS, Yes),
        (wrongly.clone(), "false-accepts=0..1", WORKS, No),
        (wrongly.clone(), "false-accepts=0..2", WORKS, WithLosses),
        (wrongly.clone(), "lost-sites=100%", WORKS, WithLosses),
    ];
    for (at, (found, named, number, answer)) in cases.into_iter().enumerate() {
        let card = card(found, named, number);
        assert_eq!(card.answer, answer, "{at}, {named}: {}", card.because);
    }
}

#[test]
fn the_reason_states_the_threshold() {
    let cases = [
        (
            connected(&[(1.08, 1.12)]),
            "connection-time=5%..7.5%",
            2,
            "more than 7.5 % longer",
        ),
        (
            connected(&[(1.08, 1.12)]),
            "connection-time=15%",
            2,
            "beyond 15 % longer",
        ),
        (
            measured(&[MadeCase::handshake(1.3, 1.31)]),
            "in-memory=20%",
            2,
            "more than 20 % more",
        ),
        (
            compatible(&[Judgement::FalseAccept]),
            "false-accepts=0..1",
            1,
            "new wrongly accepts 1: the limit of false accepts is 0..1.",
        ),
    ];
    for (found, named, number, said) in cases {
        let card = card(found, named, number);
        assert_has(&card.because, said);
    }
}

/// A larger threshold never makes an answer worse.
#[test]
fn answers_are_monotonic() {
    const STEPS: [&str; 4] = [
        "connection-time=0%,in-memory=0%,memory=0%,lost-sites=0%,false-accepts=0..1,first-connection=1ms",
        "connection-time=2%..4%,in-memory=5%..30%,memory=5%..30%,lost-sites=0%..2%,false-accepts=0..3,first-connection=10ms..",
        "",
        "connection-time=400%,in-memory=900%,memory=900%,lost-sites=10%..50%,false-accepts=100..,first-connection=10000ms..",
    ];
    let mut changed = 0;
    for seed in 0..200 {
        let made = Made::of(seed).report().evaluation;
        let steps = STEPS.map(|named| {
            let mut run = made.run.clone();
            run.thresholds = thresholds(named);
            evaluation(run, made.found.clone())
        });
        for pair in steps.windows(2) {
            let answers = pair[0].questions.iter().zip(&pair[1].questions);
            for (strict, lax) in answers {
                let said = format!("seed {seed}: {strict:#?}, then {lax:#?}");
                changed += u64::from(strict.answer != lax.answer);
                assert!(
                    strict.answer != Answer::Yes || lax.answer == Answer::Yes,
                    "{said}"
                );
                assert!(
                    lax.answer != Answer::No || strict.answer == Answer::No,
                    "{said}"
                );
            }
        }
    }
    assert!(changed > 100, "{changed}");
}

/// An evaluation with a no does not pass.
#[test]
fn a_no_fails_the_check_that_was_asked_for() {
    for (totals, named, passes) in [
        ([(1.08, 1.12)], "", false),
        ([(1.08, 1.12)], "connection-time=5%..20%", true),
        ([(0.99, 1.01)], "", true),
    ] {
        let report = whole::report(judged(whole::complete(connected(&totals)), named));
        assert_eq!(report.passes(), passes, "{totals:?} {named}");
    }
}
