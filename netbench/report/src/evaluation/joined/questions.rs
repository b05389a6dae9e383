//! Questions that several evaluations answer, and the answers in one sentence.

use std::collections::BTreeMap;

use itertools::Itertools;
use netbench_model::Quantity;
use netbench_stats::Verdict;

use super::{JoinedMean, JoinedQuestion, JoinedTime, date};
use crate::{
    Answer, Evaluation, Finding, KeyFigure, Question, Severity, Subject,
    evaluation::{
        means::{is_headline, quantity_of},
        sentence::decision_of,
    },
    text::{change, count, interval},
};

/// Joins the questions of all evaluations, in the order of the first that asks them. The figures of speed are joined.
pub(super) fn questions(
    runs: &[&Evaluation],
    means: &[JoinedMean],
    connections: &[JoinedTime],
) -> Vec<JoinedQuestion> {
    let questions = runs.iter().flat_map(|run| &run.questions);
    let names = questions.map(|question| question.question.as_str());
    let mut joined: Vec<JoinedQuestion> = names.unique().map(|name| question(runs, name)).collect();
    for (subject, joined) in Subject::ALL.into_iter().zip(&mut joined) {
        if subject == Subject::Fast {
            joined.question.figures = speed(runs, means, connections);
        }
    }
    joined
}

/// Returns the joined figures of speed, each with those of the evaluations, in the order of a single evaluation: parts
/// that take more than their limit come first unless connections take longer.
fn speed(runs: &[&Evaluation], means: &[JoinedMean], connections: &[JoinedTime]) -> Vec<KeyFigure> {
    let thresholds = &runs[0].run.thresholds;
    let (mut slower, others): (Vec<&JoinedMean>, Vec<&JoinedMean>) = means
        .iter()
        .partition(|mean| mean.ratio > thresholds.of(quantity_of(mean.part)).yes.ratio());
    slower.sort_by(|a, b| b.ratio.total_cmp(&a.ratio));
    let limit = thresholds.of(Quantity::ConnectionTime).yes.ratio();
    let mut intervals = connections.iter().map(|time| time.joined.interval);
    let at = match intervals.any(|interval| interval.high > limit) {
        true => 0,
        false => slower.len(),
    };
    let mut figures: Vec<KeyFigure> = slower
        .into_iter()
        .chain(others)
        .map(figure_of_mean)
        .collect();
    figures.splice(at..at, connections.iter().map(figure_of_time));
    figures
}

fn figure_of_time(time: &JoinedTime) -> KeyFigure {
    KeyFigure {
        value: change(time.joined.ratio),
        label: format!(
            "whole connection, {} ({}; by evaluation {})",
            time.condition,
            interval(Some(time.joined.interval)),
            by_run(&time.runs)
        ),
    }
}

fn figure_of_mean(mean: &JoinedMean) -> KeyFigure {
    KeyFigure {
        value: change(mean.ratio),
        label: format!(
            "{} (geometric mean of {}; by evaluation {})",
            mean.label,
            count(mean.cases, "case", "cases"),
            by_run(&mean.runs)
        ),
    }
}

/// Returns the ratios of the evaluations as changes: `-48 %, –, -47 %`.
fn by_run(ratios: &[Option<f64>]) -> String {
    let ratios = ratios.iter();
    let words = ratios.map(|ratio| ratio.map_or_else(|| "–".to_owned(), change));
    words.collect::<Vec<_>>().join(", ")
}

fn question(runs: &[&Evaluation], name: &str) -> JoinedQuestion {
    let asked: Vec<Option<&Question>> = runs
        .iter()
        .map(|run| run.questions.iter().find(|asked| asked.question == name))
        .collect();
    let answers: Vec<Option<Answer>> = asked
        .iter()
        .map(|asked| asked.map(|asked| asked.answer))
        .collect();
    let dated: Vec<(&str, &Question)> = runs
        .iter()
        .zip(&asked)
        .filter_map(|(run, asked)| Some((date(&run.run.started), (*asked)?)))
        .collect();
    let (findings, shown_by) = findings(runs, &dated);
    // The reasons of an evaluation that left the question open are beside its own answer.
    let decided: Vec<(&str, &Question)> = dated
        .iter()
        .filter(|(_, question)| question.answer != Answer::Open)
        .copied()
        .collect();
    let (answer, because) = joint(&decided, dated.len());
    let telling = if decided.is_empty() { dated } else { decided };
    let newest = telling.last().map(|(_, newest)| *newest);
    JoinedQuestion {
        question: Question {
            question: name.to_owned(),
            answer,
            because,
            findings,
            missing: missing(&telling),
            figures: figures(&telling),
            breaks: newest.map_or_else(Vec::new, |newest| newest.breaks.clone()),
            gains: newest.map_or_else(Vec::new, |newest| newest.gains.clone()),
        },
        answers,
        shown_by,
    }
}

/// Returns the answer that all evaluations with an answer give, and the reason; `asked` is the number of evaluations that
/// asked the question. Different answers leave the question open.
fn joint(decided: &[(&str, &Question)], asked: usize) -> (Answer, String) {
    let all = count(asked, "evaluation", "evaluations");
    let Some((newest, question)) = decided.last() else {
        return (Answer::Open, format!("None of {all} answers."));
    };
    let answers = decided.iter().map(|(_, question)| question.answer);
    if !answers.clone().all_equal() {
        let each = decided.iter();
        let each = each.map(|(date, question)| format!("{} ({date})", question.answer.words()));
        let because = format!("The evaluations differ: {}.", each.format(", "));
        return (Answer::Open, because);
    }
    let agreed = match asked - decided.len() {
        0 => format!("Each of {all} answers so."),
        open => format!("So answer {} of {all}; {open} left it open.", decided.len()),
    };
    let because = format!("{agreed} The one of {newest}: {}", question.because);
    (question.answer, because)
}

/// Returns the findings of all evaluations, those of the newest as they are, by severity and the number of users; and the
/// number of evaluations that show each.
fn findings(runs: &[&Evaluation], dated: &[(&str, &Question)]) -> (Vec<Finding>, Vec<u64>) {
    let mut found: BTreeMap<(String, Severity), (Finding, u64)> = BTreeMap::new();
    let newest_first = dated.iter().rev();
    for finding in newest_first.flat_map(|(_, question)| &question.findings) {
        let key = (finding.family.clone(), finding.severity);
        let (joined, shown_by) = found.entry(key).or_insert_with(|| (finding.clone(), 0));
        *shown_by += 1;
        for case in &finding.evidence {
            if !joined.evidence.contains(case) {
                joined.evidence.push(case.clone());
            }
        }
    }
    let client = runs[0].run.plan.client_use;
    let ranked = found.into_values();
    let ranked = ranked.sorted_by_cached_key(|(finding, _)| finding.rank(client));
    ranked.unzip()
}

/// Returns the figures of the newest evaluation. The ones that differ in another evaluation have the date.
fn figures(dated: &[(&str, &Question)]) -> Vec<KeyFigure> {
    let Some(((date, newest), others)) = dated.split_last() else {
        return Vec::new();
    };
    let figures = newest.figures.iter().map(|figure| {
        let others = others.iter().flat_map(|(_, other)| &other.figures);
        let mut alike = others.filter(|other| other.label == figure.label);
        let label = match alike.all(|other| other.value == figure.value) {
            true => figure.label.clone(),
            false => format!("{} (in the evaluation of {date})", figure.label),
        };
        KeyFigure {
            value: figure.value.clone(),
            label,
        }
    });
    figures.collect()
}

/// Returns the subjects that no evaluation tested, and those that only some of them left out, with the dates.
fn missing(dated: &[(&str, &Question)]) -> Vec<String> {
    let lines = dated.iter().flat_map(|(_, question)| &question.missing);
    lines
        .unique()
        .map(|line| {
            let without = dated.iter();
            let without = without.filter(|(_, question)| question.missing.contains(line));
            let dates: Vec<&str> = without.map(|(date, _)| *date).collect();
            if dates.len() == dated.len() {
                line.clone()
            } else {
                format!(
                    "{line} (in the evaluation of {})",
                    dates.iter().format(", ")
                )
            }
        })
        .collect()
}

/// Returns the questions that an evaluation left open although another answered them, with its reasons.
pub(super) fn left_open(runs: &[&Evaluation], questions: &[JoinedQuestion]) -> Vec<String> {
    let answered = questions.iter();
    let answered =
        answered.filter(|joined| joined.answers.iter().flatten().any(|a| *a != Answer::Open));
    let names: Vec<&str> = answered
        .map(|joined| joined.question.question.as_str())
        .collect();
    let open = runs.iter().flat_map(|run| {
        let open = run.questions.iter();
        open.filter(|question| question.answer == Answer::Open)
            .filter(|question| names.contains(&question.question.as_str()))
            .map(|question| {
                let date = date(&run.run.started);
                format!(
                    "{date} left open: {} {}",
                    question.question, question.because
                )
            })
    });
    open.collect()
}

pub(super) fn sentence(
    runs: &[&Evaluation],
    questions: &[JoinedQuestion],
    means: &[JoinedMean],
    connections: &[JoinedTime],
) -> String {
    // The behaviour of browsers decides no question.
    let decisive = questions.iter().take(3);
    let answers: Vec<Answer> = decisive.map(|asked| asked.question.answer).collect();
    let mut clauses = Vec::new();
    clauses.extend(sites(runs));
    let worse = questions.iter().flat_map(|asked| &asked.question.findings);
    let worse = worse.filter(|finding| {
        use Severity::{AcceptsForbidden, Crashes, DoesNotLoad};
        matches!(finding.severity, Crashes | AcceptsForbidden | DoesNotLoad)
    });
    let worse = worse.map(|finding| &finding.family).unique().count();
    if worse > 0 {
        let kinds = count(worse, "kind", "kinds");
        let fares = if worse == 1 { "fares" } else { "fare" };
        clauses.push(format!(
            "{kinds} of server, certificate or trust store {fares} worse"
        ));
    }
    clauses.extend(times(runs, connections));
    let headline = means.iter().filter(|mean| is_headline(mean.part));
    let slowest = headline.max_by(|a, b| a.ratio.total_cmp(&b.ratio));
    clauses.extend(slowest.map(|mean| format!("{} {}", mean.label, change(mean.ratio))));
    format!("{}: {}.", decision_of(&answers), clauses.join("; "))
}

/// Returns the largest number of sites that an evaluation lost; `None` if none was scanned.
fn sites(runs: &[&Evaluation]) -> Option<String> {
    let losses = runs.iter().filter_map(|run| run.found.losses.as_ref());
    let most = losses.max_by_key(|losses| losses.lost.len())?;
    Some(match most.lost.len() {
        0 => "no scanned site is lost".to_owned(),
        lost => format!("up to {lost} of {} sites are lost", most.counted()),
    })
}

/// Returns the times of connections in words: the same, within the limit, or the changes.
fn times(runs: &[&Evaluation], connections: &[JoinedTime]) -> Option<String> {
    if connections.is_empty() {
        return None;
    }
    let limit = runs[0].run.thresholds.of(Quantity::ConnectionTime).yes;
    let mut intervals = connections.iter().map(|time| time.joined.interval);
    if connections
        .iter()
        .all(|time| time.joined.verdict == Verdict::Same)
    {
        return Some("connections take the same time".to_owned());
    }
    if intervals.all(|interval| interval.low < 1.0 && interval.high <= limit.ratio()) {
        return Some(format!("connections take at most {limit} longer"));
    }
    let each = connections.iter();
    let each = each.map(|time| format!("{} {}", time.condition, change(time.joined.ratio)));
    Some(format!("connections {}", each.format(", ")))
}
