//! The statements of all formats of a report.

use netbench_report::{Answer, EvaluationReport};
use serde_json::Value;

use super::Hold;
use crate::support::formats::{render, terminal};

/// Checks that all formats state the same.
pub(super) fn forms_agree(report: &EvaluationReport, hold: &mut Hold<'_>) {
    let evaluation = &report.evaluation;
    let json: Value = serde_json::from_str(&render(report, "json")).unwrap();
    let (wide, csv, html) = (
        terminal(report, usize::MAX),
        render(report, "csv"),
        render(report, "html").replace('\u{a0}', " "),
    );
    let junit = render(report, "junit");
    for (mark, answer) in [(r#"type="no""#, Answer::No), ("<skipped", Answer::Open)] {
        let cards = evaluation.questions.iter();
        let cards = cards.filter(|card| card.answer == answer).count();
        hold(
            junit.matches(mark).count() == cards,
            "JUnit fails or skips other questions than the cards answer so",
        );
    }
    for format in [&wide, &html] {
        hold(
            format.contains(&evaluation.sentence),
            "a format has another sentence on top",
        );
    }
    for (number, question) in evaluation.questions.iter().enumerate() {
        let answer = serde_json::to_value(question.answer).unwrap();
        let word = answer.as_str().unwrap();
        hold(
            json["questions"][number]["answer"] == answer,
            "JSON has another answer",
        );
        let row = format!("questions,,,,{},answer,{word},", question.question);
        hold(csv.contains(&row), "CSV has another answer");
        hold(
            wide.contains(&question.because),
            "the terminal has another sentence",
        );
        let words = question.answer.words();
        let (initial, rest) = words.split_at(1);
        let words = format!("{}{rest}. {}", initial.to_uppercase(), question.because);
        hold(wide.contains(&words), "the terminal has another answer");
        hold(
            html.contains(&question.because),
            "the page has another sentence",
        );
    }
    if let Some(losses) = &evaluation.found.losses {
        let said = match losses.counted() {
            0 => "No site that old can agree with was compared".to_owned(),
            _ => format!(
                "that old can agree with, new can agree with {} and loses {}.",
                losses.both,
                losses.lost.len()
            ),
        };
        for format in [&wide, &html] {
            hold(
                format.contains(&said),
                "a headline counts sites otherwise than the cards",
            );
        }
        let listed = losses.lost.iter().all(|site| wide.contains(&site.site));
        hold(listed, "a lost site is not in the table");
    }
}
