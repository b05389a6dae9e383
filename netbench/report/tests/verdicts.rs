//! Made-up evidence with the one right answer: for an evaluation on all of its surfaces, and for the gate of `compare`.
//! Runs of one command are in `verdicts_of_runs.rs`.

#[path = "support/forms.rs"]
mod forms;
#[path = "support/made.rs"]
#[expect(dead_code, reason = "contradictions.rs uses the rest")]
mod made;
#[path = "support/made_parts.rs"]
mod made_parts;
#[path = "support/manifest.rs"]
mod manifest;
#[path = "support/mod.rs"]
mod support;
#[path = "support/whole.rs"]
mod whole;

use std::sync::Arc;

use forms::{render, terminal};
use netbench_model::{Losses, LostSite, Outcome, PartState, compat::Judgement};
use netbench_report::{
    Answer::{self, No, Open, WithLosses, Yes},
    EvaluationReport, Found, Gate, compare_runs_of_connect, evaluation,
};
use netbench_stats::{Rng, UndecidedReason};
use support::Fixture;
use whole::{MadeCase, complete, connections, run, suite};

const SWITCH: &str = "Switch: ";
const CARE: &str = "Switch with care: ";
const NOT_YET: &str = "Do not switch yet: ";
const OPEN: &str = "Not decided yet: ";

/// What a row changes of an evaluation in which nothing is lost.
#[derive(Clone, Copy)]
enum Change {
    Without(&'static str),
    /// The part found all it should, and ended so.
    Ended(&'static str, End),
    /// There is no evidence of the part, and it ended so.
    Never(&'static str, End),
    Lost(u64),
    Totals(&'static [(f64, f64)]),
    Compat(Judgement),
    Suite(fn() -> Vec<MadeCase>),
}

#[derive(Clone, Copy)]
enum End {
    Interrupted,
    Failed,
    Unsupported,
}

use Change::{Compat, Ended, Lost, Never, Suite, Totals, Without};
use End::{Failed, Interrupted, Unsupported};

fn state(end: End) -> PartState {
    let why = "a reason".to_owned();
    match end {
        Interrupted => PartState::Interrupted,
        Failed => PartState::Failed { why },
        Unsupported => PartState::Unsupported { why },
    }
}

fn without(found: &mut Found, part: &str) {
    match part {
        "features" => found.matrix = None,
        "sites" => found.losses = None,
        "compat" => found.compat = None,
        "connections" => found.connections = None,
        _ => found.suites.clear(),
    }
}

fn made(changes: &[Change]) -> EvaluationReport {
    let mut found = complete(Found::default());
    let mut states = Vec::new();
    for change in changes {
        match *change {
            Without(part) => without(&mut found, part),
            Ended(part, end) => states.push((part, state(end))),
            Never(part, end) => {
                without(&mut found, part);
                states.push((part, state(end)));
            }
            Lost(lost) => {
                let site = |number| LostSite {
                    site: format!("lost-{number}.example"),
                    reason: "cbc-only".to_owned(),
                    detail: String::new(),
                    confirmed: Some(true),
                };
                found.losses = Some(Losses {
                    scanned: 101,
                    both: 101 - lost,
                    lost: (0..lost).map(site).collect(),
                    ..Losses::default()
                });
            }
            Totals(totals) => found.connections = Some(Arc::new(connections(totals))),
            Compat(judgement) => {
                let judged = [Judgement::Right, judgement];
                found.compat = Some(Arc::new(made_parts::compat(&judged)));
            }
            Suite(cases) => found.suites = vec![Arc::new(suite(&cases()))],
        }
    }
    EvaluationReport {
        evaluation: evaluation(run(&states), found),
        parts: Vec::new(),
    }
}

fn slow() -> Vec<MadeCase> {
    vec![MadeCase::handshake(1.2, 1.3), MadeCase::receive(0.9, 0.92)]
}

fn all_slow() -> Vec<MadeCase> {
    vec![MadeCase::handshake(1.2, 1.3)]
}

fn never_quiet() -> Vec<MadeCase> {
    vec![MadeCase::handshake(0.5, 0.52).held_back(UndecidedReason::NeverQuiet)]
}

/// The worst case was measured on a machine that was never quiet.
fn one_never_quiet() -> Vec<MadeCase> {
    vec![
        MadeCase::receive(0.8, 0.9),
        MadeCase::receive(1.6, 1.8).held_back(UndecidedReason::NeverQuiet),
    ]
}

fn too_few() -> Vec<MadeCase> {
    vec![MadeCase::handshake(0.0, 0.5)]
}

const SLOWER: &[(f64, f64)] = &[(1.06, 1.2)];
const MIXED: &[(f64, f64)] = &[(0.99, 1.01), (1.06, 1.2)];
const WIDE: &[(f64, f64)] = &[(0.1, 6.97)];
const AT_MOST: &[(f64, f64)] = &[(1.01, 1.05)];
const NONE: &[(f64, f64)] = &[(0.0, 1.0)];

/// Changes, the answers of the three questions, and the beginning of the sentence.
type Row = (&'static [Change], [Answer; 3], &'static str);

const ROWS: &[Row] = &[
    (&[], [Yes, Yes, Yes], SWITCH),
    // A part is missing.
    (
        &[Without("features")],
        [Open, Open, Yes],
        "Not decided: protocol support was not tested; ",
    ),
    (
        &[Without("sites")],
        [Open, Yes, Yes],
        "Not decided: the reach of the sites was not tested; ",
    ),
    (
        &[Without("compat")],
        [Yes, Open, Yes],
        "Not decided: compatibility was not tested; ",
    ),
    (
        &[Without("connections")],
        [Yes, Open, Open],
        "Not decided: connections were not tested; ",
    ),
    (
        &[Without("suite")],
        [Yes, Yes, Open],
        "Not decided: speed in memory was not tested; ",
    ),
    (
        &[Without("compat"), Without("suite")],
        [Yes, Open, Open],
        "Not decided: compatibility and speed in memory were not tested; ",
    ),
    (
        &[Without("features"), Without("sites"), Without("compat")],
        [Open, Open, Yes],
        "Not decided: protocol support, the reach of the sites and compatibility were not tested; ",
    ),
    // A part failed, or was interrupted.
    (
        &[Never("features", Failed)],
        [Open, Open, Yes],
        "Not decided: protocol support was not tested; ",
    ),
    (
        &[Never("sites", Failed)],
        [Open, Yes, Yes],
        "Not decided: the reach of the sites was not tested; ",
    ),
    (
        &[Never("compat", Failed)],
        [Yes, Open, Yes],
        "Not decided: compatibility was not tested; ",
    ),
    (
        &[Never("connections", Failed)],
        [Yes, Open, Open],
        "Not decided: connections were not tested; ",
    ),
    (
        &[Never("suite", Failed)],
        [Yes, Yes, Open],
        "Not decided: speed in memory was not tested; ",
    ),
    (
        &[Ended("compat", Failed)],
        [Yes, Open, Yes],
        "Not decided: compatibility was tested in part; ",
    ),
    (
        &[Ended("compat", Interrupted)],
        [Yes, Open, Yes],
        "Not decided: compatibility was tested in part; ",
    ),
    (
        &[Ended("connections", Interrupted)],
        [Yes, Open, Open],
        "Not decided: connections were tested in part; ",
    ),
    (
        &[Ended("sites", Interrupted)],
        [Open, Yes, Yes],
        "Not decided: the reach of the sites was tested in part; ",
    ),
    (
        &[Ended("suite", Failed)],
        [Yes, Yes, Open],
        "Not decided: speed in memory was tested in part; ",
    ),
    (
        &[Ended("suite", Failed), Without("compat")],
        [Yes, Open, Open],
        "Not decided: speed in memory was tested in part, and compatibility was not tested; ",
    ),
    // A part that a stack does not have.
    (
        &[Never("suite", Unsupported)],
        [Yes, Yes, Yes],
        "Switch (speed in memory not included): ",
    ),
    (
        &[Never("features", Unsupported)],
        [Yes, Yes, Yes],
        "Switch (protocol support not included): ",
    ),
    (
        &[Never("compat", Unsupported)],
        [Yes, Open, Yes],
        "Not decided: compatibility was not tested; ",
    ),
    (
        &[Never("connections", Unsupported)],
        [Yes, Open, Open],
        "Not decided: connections were not tested; ",
    ),
    (
        &[Never("sites", Unsupported)],
        [Open, Yes, Yes],
        "Not decided: the reach of the sites was not tested; ",
    ),
    (
        &[Never("suite", Unsupported), Lost(1)],
        [WithLosses, WithLosses, Yes],
        "Switch with care (speed in memory not included): ",
    ),
    (
        &[Never("suite", Unsupported), Totals(SLOWER)],
        [Yes, Yes, No],
        NOT_YET,
    ),
    // Losses remain losses.
    (&[Lost(1)], [WithLosses, WithLosses, Yes], CARE),
    (&[Lost(20)], [No, No, Yes], NOT_YET),
    (
        &[Lost(1), Without("features")],
        [WithLosses, WithLosses, Yes],
        "Not decided: protocol support was not tested; ",
    ),
    (&[Lost(20), Without("features")], [No, No, Yes], NOT_YET),
    (
        &[Lost(20), Without("compat"), Without("suite")],
        [No, No, Open],
        NOT_YET,
    ),
    (&[Lost(101)], [No, No, Yes], NOT_YET),
    (&[Compat(Judgement::Lost)], [Yes, WithLosses, Yes], CARE),
    (&[Compat(Judgement::Unwarned)], [Yes, WithLosses, Yes], CARE),
    (&[Compat(Judgement::Crashed)], [Yes, WithLosses, Yes], CARE),
    (&[Compat(Judgement::Hung)], [Yes, WithLosses, Yes], CARE),
    (&[Compat(Judgement::WrongReason)], [Yes, Yes, Yes], SWITCH),
    (
        &[Compat(Judgement::Lost), Without("features")],
        [Open, WithLosses, Yes],
        "Not decided: protocol support was not tested; ",
    ),
    // Intervals.
    (&[Totals(AT_MOST)], [Yes, Yes, Yes], SWITCH),
    (&[Totals(SLOWER)], [Yes, Yes, No], NOT_YET),
    (&[Totals(MIXED)], [Yes, Yes, WithLosses], CARE),
    (&[Totals(WIDE)], [Yes, Yes, Open], OPEN),
    (&[Totals(NONE)], [Yes, Yes, Open], OPEN),
    (&[Totals(&[])], [Yes, Yes, Open], OPEN),
    (&[Totals(SLOWER), Without("suite")], [Yes, Yes, No], NOT_YET),
    (
        &[Totals(MIXED), Without("suite")],
        [Yes, Yes, WithLosses],
        "Not decided: speed in memory was not tested; ",
    ),
    // Memory alone, and parts that contradict each other.
    (&[Suite(slow)], [Yes, Yes, WithLosses], CARE),
    (&[Suite(all_slow)], [Yes, Yes, WithLosses], CARE),
    (&[Suite(never_quiet)], [Yes, Yes, Open], OPEN),
    (&[Suite(one_never_quiet)], [Yes, Yes, Open], OPEN),
    (&[Suite(too_few)], [Yes, Yes, Open], OPEN),
    (&[Suite(slow), Totals(SLOWER)], [Yes, Yes, No], NOT_YET),
    (
        &[Suite(never_quiet), Totals(MIXED)],
        [Yes, Yes, WithLosses],
        CARE,
    ),
    (
        &[Suite(all_slow), Without("connections")],
        [Yes, Open, Open],
        "Not decided: connections were not tested; ",
    ),
    (
        &[Suite(slow), Lost(1), Compat(Judgement::Lost)],
        [WithLosses, WithLosses, WithLosses],
        CARE,
    ),
];

#[test]
fn each_evidence_has_one_right_answer_on_every_surface() {
    for (at, (changes, answers, sentence)) in ROWS.iter().enumerate() {
        let report = made(changes);
        let evaluation = &report.evaluation;
        let found: Vec<Answer> = evaluation.questions.iter().map(|q| q.answer).collect();
        assert_eq!(found, answers, "row {at}: {:#?}", evaluation.questions);
        let said = &evaluation.sentence;
        assert!(said.starts_with(sentence), "row {at}: {said}");
        let is_open_in_memory = changes.iter().any(|change| {
            matches!(change, Suite(cases) if [never_quiet, one_never_quiet, too_few]
                .iter()
                .any(|open| std::ptr::fn_addr_eq(*open, *cases)))
        });
        assert_eq!(
            said.contains("speed in memory is open"),
            is_open_in_memory,
            "row {at}: {said}"
        );
        let text = terminal(&report, usize::MAX);
        let page = render(&report, "html").replace('\u{a0}', " ");
        for form in [&text, &page] {
            assert!(form.contains(said.as_str()), "row {at}");
        }
        let junit = render(&report, "junit");
        let tests = |status: &str| junit.matches(status).count();
        let answered = |answer| answers.iter().filter(|found| **found == answer).count();
        assert_eq!(tests(r#"type="no""#), answered(No), "row {at}: {junit}");
        assert_eq!(tests("<skipped"), answered(Open), "row {at}: {junit}");
        for question in &evaluation.questions {
            let words = question.answer.words();
            let (initial, rest) = words.split_at(1);
            let words = format!("{}{rest}. {}", initial.to_uppercase(), question.because);
            assert!(text.contains(&words), "row {at}: {words}");
        }
    }
}

/// Rounds, noise of a round, factor of the other run in percent, threshold in percent, outcome.
const GATES: &[(u32, f64, f64, f64, Gate)] = &[
    // Equal runs.
    (12, 0.001, 100.0, 5.0, Gate::Passed),
    (12, 0.005, 100.0, 5.0, Gate::Passed),
    (12, 0.001, 100.0, 2.0, Gate::Passed),
    (12, 0.5, 100.0, 5.0, Gate::CannotTell),
    (12, 0.3, 100.0, 5.0, Gate::CannotTell),
    (3, 0.001, 100.0, 5.0, Gate::CannotTell),
    (1, 0.001, 100.0, 5.0, Gate::CannotTell),
    // The other run is slower.
    (12, 0.001, 120.0, 5.0, Gate::Regressed),
    (12, 0.005, 120.0, 5.0, Gate::Regressed),
    (12, 0.001, 110.0, 5.0, Gate::Regressed),
    (12, 0.001, 110.0, 20.0, Gate::Passed),
    (12, 0.5, 120.0, 20.0, Gate::CannotTell),
    (3, 0.001, 300.0, 5.0, Gate::CannotTell),
    // It is faster, or seems to be.
    (12, 0.001, 65.0, 5.0, Gate::Passed),
    (12, 2.0, 65.0, 5.0, Gate::CannotTell),
    (3, 0.001, 65.0, 5.0, Gate::CannotTell),
];

#[test]
fn each_pair_of_runs_has_one_outcome_at_the_gate() {
    assert!(ROWS.len() + GATES.len() >= 60);
    for sites in [1, 3] {
        for (at, (rounds, noise, percent, threshold, outcome)) in GATES.iter().enumerate() {
            let mut rng = Rng::new(u64::try_from(at).unwrap());
            let fixture = Fixture {
                rounds: *rounds,
                ..Fixture::default()
            };
            let mut manifest = fixture.manifest();
            let names = ["near.example", "middle.example", "far.example"];
            let names = &names[..sites];
            let kept = |name: &str| names.contains(&name);
            manifest.plan.sites.retain(|site| kept(&site.name()));
            let mut samples = fixture.samples();
            samples.retain(|sample| kept(&sample.site));
            let mut run = |factor: f64| {
                let mut samples = samples.clone();
                for sample in &mut samples {
                    if let Outcome::Ok(measured) = &mut sample.outcome {
                        let total = 50e6 * factor * (noise * rng.normal()).exp();
                        #[expect(
                            clippy::cast_possible_truncation,
                            clippy::cast_sign_loss,
                            reason = "a time"
                        )]
                        let total = total as u64;
                        measured.phases.total_ns = total;
                    }
                }
                samples
            };
            let (before, after) = (run(1.0), run(percent / 100.0));
            let found = compare_runs_of_connect(
                (&manifest, &before),
                (&manifest, &after),
                None,
                Some(threshold / 100.0),
            );
            assert_eq!(
                found.gate(),
                Some(*outcome),
                "row {at}, {sites} sites: {found:#?}"
            );
            let text = terminal(&found, usize::MAX);
            let word = match outcome {
                Gate::Passed => "Passed: ",
                Gate::Regressed => "Regressed: ",
                Gate::CannotTell => "Cannot tell: ",
            };
            assert!(text.contains(word), "row {at}: {text}");
            let junit = render(&found, "junit");
            let fails = |class: &str| junit.contains(&format!(r#"type="{class}""#));
            assert_eq!(fails("regression"), *outcome == Gate::Regressed, "row {at}");
            if *outcome != Gate::Regressed {
                assert_eq!(
                    fails("cannot-tell"),
                    *outcome == Gate::CannotTell,
                    "row {at}"
                );
            }
            if *outcome == Gate::CannotTell {
                assert!(text.contains("rounds"), "row {at}: {text}");
                assert!(junit.contains("cannot tell: "), "row {at}: {junit}");
            }
            // One site has the samples of the total, and the same verdict.
            for row in found.sites.iter().filter(|_| sites == 1) {
                let same = found
                    .phases
                    .iter()
                    .any(|total| total.change == row.change && total.judged == row.judged);
                assert!(same, "row {at}: {row:?}");
            }
        }
    }
}
