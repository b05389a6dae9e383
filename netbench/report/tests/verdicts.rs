//! Artificial evidence with a single correct answer: for an evaluation in all of its outputs, and for the gate of
//! `compare`. Runs of one command are in `verdicts_of_runs.rs`.

use std::sync::Arc;

use netbench_model::compat::Judgement;
use netbench_report::{
    Answer::{self, No, Open},
    EvaluationReport, Found, Gate, compare_runs_of_connect, evaluation,
};

use crate::support::{
    formats::{render, terminal},
    made_parts,
    rows::{
        self,
        Change::{Compat, Ended, Lost, Never, Suite, Totals, Without},
        ROWS, never_quiet, one_never_quiet, state, too_few,
    },
    runs::{GATES, gate},
    whole::{complete, connections, losses, report, run, suite},
};

fn without(found: &mut Found, part: &str) {
    match part {
        "features" => found.matrix = None,
        "sites" => found.losses = None,
        "compat" => found.compat = None,
        "connections" => found.connections = None,
        _ => found.suites.clear(),
    }
}

fn made(changes: &[rows::Change]) -> EvaluationReport {
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
                let mut losses = losses(101 - lost, lost);
                for site in &mut losses.lost {
                    "cbc-only".clone_into(&mut site.reason);
                }
                found.losses = Some(losses);
            }
            Totals(totals) => found.connections = Some(Arc::new(connections(totals))),
            Compat(judgement) => {
                let judged = [Judgement::Right, judgement];
                found.compat = Some(Arc::new(made_parts::compat(&judged)));
            }
            Suite(cases) => found.suites = vec![Arc::new(suite(&cases()))],
        }
    }
    report(evaluation(run(&states), found))
}

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
        for format in [&text, &page] {
            assert!(format.contains(said.as_str()), "row {at}");
        }
        let junit = render(&report, "junit");
        for (mark, answer) in [(r#"type="no""#, No), ("<skipped", Open)] {
            let answered = answers.iter().filter(|found| **found == answer).count();
            assert_eq!(junit.matches(mark).count(), answered, "row {at}: {junit}");
        }
        for question in &evaluation.questions {
            let words = question.answer.words();
            let (initial, rest) = words.split_at(1);
            let words = format!("{}{rest}. {}", initial.to_uppercase(), question.because);
            assert!(text.contains(&words), "row {at}: {words}");
        }
    }
}

#[test]
fn each_pair_of_runs_has_one_outcome_at_the_gate() {
    assert!(ROWS.len() + GATES.len() >= 60);
    for sites in [1, 3] {
        for (at, row) in GATES.iter().enumerate() {
            let (manifest, [before, after]) = gate(row, sites, u64::try_from(at).unwrap());
            let (.., threshold, outcome) = row;
            let found = compare_runs_of_connect(
                (&manifest, &before),
                (&manifest, &after),
                None,
                Some(threshold / 100.0),
            );
            assert_eq!(
                found.gate.result(),
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
            let [regressed, cannot_tell] = [r#"type="regression""#, r#"type="cannot-tell""#]
                .map(|class| junit.contains(class));
            assert_eq!(regressed, *outcome == Gate::Regressed, "row {at}");
            if *outcome != Gate::Regressed {
                assert_eq!(cannot_tell, *outcome == Gate::CannotTell, "row {at}");
            }
            if *outcome == Gate::CannotTell {
                assert!(text.contains("rounds"), "row {at}: {text}");
                assert!(junit.contains("cannot tell: "), "row {at}: {junit}");
            }
            // One site has the samples of the total, and the same verdict.
            for site in found.sites.iter().filter(|_| sites == 1) {
                let same = found
                    .phases
                    .iter()
                    .any(|total| total.change == site.change && total.judged == site.judged);
                assert!(same, "row {at}: {site:?}");
            }
        }
    }
}
