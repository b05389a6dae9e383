//! All answers of an evaluation in one sentence, from the same evidence as the cards below it.

use itertools::Itertools;
use netbench_model::{HeldAfter, Measure, Quantity, Work};
use netbench_stats::Verdict;

use super::{
    basis,
    evidence::Evidence,
    fast,
    question::{Answer, Question},
    supports::lost_of_a_million,
    works,
};
use crate::{
    ConnectSummary,
    connect::{PhaseRow, first_longer},
    text::{change, time},
};

/// The relative difference in memory from which it gets a clause.
const MEMORY: f64 = 0.05;

/// The maximal number of words of the sentence.
const WORDS: usize = 30;

/// Returns the sentence: `Switch: nothing is lost; connections take the same time; …`. The clauses are in order of
/// their weight for the decision, and a clause that would make the sentence longer than [`WORDS`] is left to the cards.
pub(super) fn sentence(evidence: &Evidence<'_>, questions: &[Question]) -> String {
    let decision = decision(evidence, questions);
    let mut left = WORDS.saturating_sub(words(&decision));
    let mut clauses = Vec::new();
    clauses.extend(sites(evidence, questions, left));
    clauses.extend(glitches(evidence, questions));
    clauses.extend(servers(evidence));
    clauses.extend(connections(evidence));
    clauses.extend(fast::worst_in_memory(evidence));
    clauses.extend(first_connection(evidence));
    clauses.extend(memory(evidence));
    let mut fitting = Vec::new();
    for clause in clauses {
        if let Some(rest) = left.checked_sub(words(&clause)) {
            left = rest;
            fitting.push(clause);
        }
    }
    if fitting.is_empty() {
        return format!("{}.", decision.trim_end_matches([':', ';']));
    }
    format!("{decision} {}.", fitting.join("; "))
}

/// Returns the number of words; a sign between spaces is none.
fn words(text: &str) -> usize {
    let words = text.split_whitespace();
    words
        .filter(|word| word.contains(char::is_alphanumeric))
        .count()
}

/// Returns the decision that the answers allow, with the punctuation before the clauses. An untested part leaves it
/// open, so that leaving a part out never makes a switch look better; a part that does not exist for a stack is
/// named.
fn decision(evidence: &Evidence<'_>, questions: &[Question]) -> String {
    let answers: Vec<Answer> = questions.iter().map(|question| question.answer).collect();
    let decision = decision_of(&answers);
    if answers.contains(&Answer::No) {
        return format!("{decision}:");
    }
    if let Some(untested) = basis::untested(evidence) {
        return format!("Not decided: {untested};");
    }
    match basis::excluded(evidence) {
        Some(excluded) => format!("{decision} ({excluded} not included):"),
        None => format!("{decision}:"),
    }
}

/// Returns the decision that answers allow by themselves.
pub(super) fn decision_of(answers: &[Answer]) -> &'static str {
    if answers.contains(&Answer::No) {
        "Do not switch yet"
    } else if answers.contains(&Answer::Open) {
        "Not decided yet"
    } else if answers.contains(&Answer::WithLosses) {
        "Switch with care"
    } else {
        "Switch"
    }
}

/// Returns the sites that are lost, without the reason if it does not fit in this number of words; `None` if none were
/// scanned, which the decision states.
fn sites(evidence: &Evidence<'_>, questions: &[Question], most_words: usize) -> Option<String> {
    let losses = evidence.losses()?;
    let reached = losses.counted();
    let counted = match losses.lost.len() {
        _ if reached == 0 => format!("{} itself reaches none of the sites", evidence.from),
        0 if evidence.built_in_sites => "no built-in site is lost".to_owned(),
        0 if questions.get(1).map(|works| works.answer) == Some(Answer::Yes)
            && basis::untested(evidence)
                .or(basis::excluded(evidence))
                .is_none() =>
        {
            "nothing is lost".to_owned()
        }
        0 => "no site is lost".to_owned(),
        lost => {
            let built_in = if evidence.built_in_sites {
                "built-in "
            } else {
                ""
            };
            let is = if lost == 1 { "is" } else { "are" };
            format!("{lost} of {reached} {built_in}sites {is} lost")
        }
    };
    let mut reasons = losses.lost.iter().map(|site| &site.reason);
    let reason = reasons.all_equal_value().ok().cloned();
    let web = web(evidence).filter(|_| reached > 0);
    let whole = with_notes(&counted, reason.iter().chain(&web));
    Some(match words(&whole) <= most_words {
        true => whole,
        false => with_notes(&counted, web.iter()),
    })
}

/// Returns a clause with notes in brackets, if there are any.
fn with_notes<'a>(clause: &str, notes: impl Iterator<Item = &'a String>) -> String {
    let notes: Vec<&str> = notes.map(String::as_str).collect();
    match notes.as_slice() {
        [] => clause.to_owned(),
        notes => format!("{clause} ({})", notes.join("; ")),
    }
}

/// Returns the sites of the web, which decide if the user gave none.
fn web(evidence: &Evidence<'_>) -> Option<String> {
    let web = evidence.found.web.as_ref().filter(|web| web.high > 0.0)?;
    let [_, low, high] = lost_of_a_million(web);
    evidence
        .built_in_sites
        .then(|| format!("web: {low} to {high} per million"))
}

/// Returns the failures beyond the lost sites; `None` if there are none.
fn glitches(evidence: &Evidence<'_>, questions: &[Question]) -> Option<String> {
    let more = works::failing(evidence).len();
    let none_lost = evidence
        .losses()
        .is_none_or(|losses| losses.lost.is_empty());
    if more > 0 {
        let other = if none_lost { "" } else { " other" };
        let sites = match more {
            1 => "site fails",
            _ => "sites fail",
        };
        return Some(format!("{more}{other} {sites} with {}", evidence.to));
    }
    match questions.get(1)?.answer {
        // The decision names untested parts.
        Answer::Open if basis::untested(evidence).is_some() => None,
        Answer::Open => Some(format!("whether {} works is open", evidence.to)),
        Answer::WithLosses | Answer::No if none_lost && servers(evidence).is_none() => {
            Some("not all tests went as they should".to_owned())
        }
        _ => None,
    }
}

/// Returns the deteriorations with servers of the catalogue; `None` if there are none.
fn servers(evidence: &Evidence<'_>) -> Option<String> {
    let compat = evidence.found.compat.as_deref()?;
    let worse = compat.worse().len();
    (worse > 0).then(|| {
        format!(
            "{worse} of {} test servers fare worse",
            compat.told_of_both()
        )
    })
}

/// Returns the result of a row of connections, to follow “take”.
fn takes(row: &PhaseRow, evidence: &Evidence<'_>) -> String {
    let limit = evidence.thresholds.of(Quantity::ConnectionTime);
    let (first_ns, ratio) = (row.first.p50_ns, row.change.ratio);
    let (ms, percent) = (time((first_ns * (ratio - 1.0)).abs()), change(ratio));
    match row.change.verdict {
        Verdict::Same => "the same time".to_owned(),
        Verdict::Faster => format!("{ms} less ({percent})"),
        Verdict::Slower => format!("{ms} longer ({percent})"),
        Verdict::Undecided | Verdict::NotJudged => match row.change.interval {
            Some(interval) if interval.high <= limit.yes.ratio() => {
                let most = change(interval.high.max(1.0));
                format!("at most {} longer", most.trim_start_matches('+'))
            }
            _ => "a time that is not decided yet".to_owned(),
        },
    }
}

/// Returns a clause if all conditions have the same result, and else one for each condition, the slower ones first.
fn connections(evidence: &Evidence<'_>) -> Vec<String> {
    if evidence.timed().is_some_and(ConnectSummary::is_loopback) {
        return vec!["connections were timed over loopback alone".to_owned()];
    }
    let rows = fast::totals(evidence)
        .into_iter()
        .sorted_by_key(|(_, row)| match row.change.verdict {
            Verdict::Slower => 0,
            Verdict::Undecided | Verdict::NotJudged => 1,
            Verdict::Same | Verdict::Faster => 2,
        })
        .map(|(condition, row)| (condition, takes(row, evidence)))
        .collect_vec();
    match rows.as_slice() {
        [] if evidence.timed().is_none() => Vec::new(),
        [] => vec!["connections were not compared".to_owned()],
        [(_, takes), rest @ ..] if rest.iter().all(|(_, other)| other == takes) => {
            vec![format!("connections take {takes}")]
        }
        rows => {
            let rows = rows.iter();
            rows.map(|(condition, takes)| format!("{condition} connections take {takes}"))
                .collect()
        }
    }
}

fn first_connection(evidence: &Evidence<'_>) -> Option<String> {
    let cold = &evidence.timed()?.cold;
    let longer = first_longer(cold, evidence.from, evidence.to)?;
    let because = longer.because.map(|step| format!(" ({step})"));
    Some(format!(
        "a process' first connection {}{}",
        longer.takes(),
        because.unwrap_or_default()
    ))
}

/// Returns the change of a session's memory, for the newest version and the largest number of sessions that were
/// measured: of a client's and of a server's heap, or of both sides together if they were not measured separately.
fn memory(evidence: &Evidence<'_>) -> Option<String> {
    let [client, server, both] = [
        Measure::HeapOfClient,
        Measure::HeapOfServer,
        Measure::PerSession,
    ]
    .map(|measure| held(evidence, measure));
    match (client, server) {
        (Some(client), Some(server)) => (differs(client) || differs(server)).then(|| {
            let (client, server) = (change(client), change(server));
            format!("a session's heap: client {client}, server {server}")
        }),
        _ => {
            let both = change(both.filter(|ratio| differs(*ratio))?);
            Some(format!("a session's memory (both sides): {both}"))
        }
    }
}

fn differs(ratio: f64) -> bool {
    (ratio - 1.0).abs() > MEMORY
}

/// Returns the ratio of the memory of a session with the new stack to that with the stack in use.
fn held(evidence: &Evidence<'_>, measure: Measure) -> Option<f64> {
    let rows = evidence.cases().filter_map(|row| {
        let Work::Memory {
            settings,
            sessions,
            after: HeldAfter::Handshake,
        } = &row.case.scenario.work
        else {
            return None;
        };
        let (from, to) = (row.of(evidence.from)?, row.of(evidence.to)?);
        let key = (settings.version, *sessions);
        (row.case.measure == measure).then_some((key, to.low / from.low))
    });
    let (_, ratio) = rows.max_by_key(|(key, _)| *key)?;
    Some(ratio)
}
