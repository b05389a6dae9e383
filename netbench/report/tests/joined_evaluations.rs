//! Several evaluations of one switch, joined.

use netbench_model::PartState;
use netbench_report::{
    Answer, Evaluation, Found, JoinedEvaluations, Report, evaluation, join_evaluations,
};

use crate::support::{
    formats::{assert_json, render},
    whole::{self, MadeCase},
};

/// Returns an evaluation of a day, whose handshakes have this ratio.
fn of_day(day: &str, ratio: f64, change: fn(&mut Found)) -> Evaluation {
    let mut run = whole::run(&[("suite", PartState::Done)]);
    run.started = format!("{day}T10:00:00Z");
    run.name = format!("{day}-e");
    let cases = [
        MadeCase::handshake(ratio, ratio * 1.02),
        MadeCase::receive(0.90, 0.92),
    ];
    let mut found = whole::complete(whole::measured(&cases));
    change(&mut found);
    evaluation(run, found)
}

fn loses_a_site(found: &mut Found) {
    found.losses = Some(whole::losses(90, 11));
}

/// The ratio of handshakes on a day, and a change of the findings.
type Day = (f64, fn(&mut Found));

fn joined(runs: &[Day]) -> JoinedEvaluations {
    let days = ["2026-01-03", "2026-02-01", "2026-02-02"].into_iter();
    let runs = days.zip(runs);
    join_evaluations(
        runs.map(|(day, (ratio, change))| of_day(day, *ratio, *change))
            .collect(),
    )
}

#[test]
fn an_answer_stands_if_all_that_give_one_agree() {
    use Answer::{No, Open, Yes};
    const NOTHING: fn(&mut Found) = |_| {};
    const WITHOUT_SUITE: fn(&mut Found) = |found| found.suites.clear();
    type Row = (&'static [Day], [Answer; 3], &'static str);
    let rows: [Row; 5] = [
        (
            &[(0.5, NOTHING), (0.5, NOTHING)],
            [Yes, Yes, Yes],
            "Switch: ",
        ),
        (
            &[(0.5, WITHOUT_SUITE), (0.5, NOTHING)],
            [Yes, Yes, Yes],
            "Switch: ",
        ),
        (
            &[(0.5, WITHOUT_SUITE), (0.5, WITHOUT_SUITE)],
            [Yes, Yes, Open],
            "Not decided yet: ",
        ),
        (
            &[(0.5, NOTHING), (0.5, NOTHING), (1.5, NOTHING)],
            [Yes, Yes, Open],
            "Not decided yet: ",
        ),
        (
            &[(0.5, loses_a_site), (0.5, loses_a_site)],
            [No, No, Yes],
            "Do not switch yet: ",
        ),
    ];
    for (runs, answers, decision) in rows {
        let joined = joined(runs);
        let found = joined.questions.iter().map(|joined| joined.question.answer);
        let found: Vec<Answer> = found.collect();
        assert_eq!(found, answers, "{}", joined.sentence);
        assert!(joined.sentence.starts_with(decision), "{}", joined.sentence);
        assert_eq!(joined.passes(), !answers.contains(&No));
        for (question, at) in joined.questions.iter().zip(0..) {
            let words = &question.question.because;
            let differ = at == 2 && runs.len() == 3;
            assert_eq!(
                words.starts_with("The evaluations differ"),
                differ,
                "{words}"
            );
        }
    }
}

#[test]
fn an_evaluation_that_left_a_question_open_says_why_and_changes_no_figure() {
    let whole = joined(&[(0.5, |_| {}), (0.52, |_| {})]);
    let part = joined(&[
        (0.5, |_| {}),
        (0.52, |_| {}),
        (0.52, |found| found.suites.clear()),
    ]);
    assert_eq!(whole.left_open, Vec::<String>::new());
    assert_eq!(part.left_open.len(), 1, "{:?}", part.left_open);
    assert!(part.left_open[0].starts_with("2026-02-02 left open: Is new fast enough?"));
    let [of_whole, of_part] =
        [&whole, &part].map(|joined| joined.means.iter().map(|mean| mean.ratio));
    assert!(of_whole.eq(of_part));
    assert_eq!(part.means[0].runs.last(), Some(&None));
}

#[test]
fn a_part_that_takes_longer_leads_the_figures_of_speed() {
    for (ratio, first) in [(0.5, "whole connection, clean"), (1.1, "client's side")] {
        let joined = joined(&[(ratio, |_| {}), (ratio, |_| {})]);
        let figures = &joined.questions[2].question.figures;
        assert!(figures[0].label.starts_with(first), "{figures:#?}");
    }
}

#[test]
fn the_article_has_every_evaluation_and_the_json_its_schema() {
    let article = joined(&[(0.5, |_| {}), (0.52, loses_a_site)]);
    insta::assert_snapshot!("joined_evaluations", render(&article, "markdown"));
    assert_json(&article, "joined-evaluations.json");
    for format in ["csv", "html", "junit", "sarif", "brief", "terminal"] {
        assert!(!render(&article, format).is_empty(), "{format}");
    }
    assert!(article.tells());
}
