//! All answers of an evaluation in one sentence, from the same evidence as the cards below it.

use itertools::Itertools;
use netbench_model::{Condition, HeldAfter, Measure, Phase, StackName, Work};
use netbench_stats::Verdict;

use super::{Answer, Evidence, NO_MORE_THAN, Question, basis, fast, supports::rounded, works};
use crate::{
    ConnectSummary,
    connect::{PhaseRow, first_longer},
    text::{bytes, change, time},
};

/// The relative difference in memory from which it gets a clause.
const MEMORY: f64 = 0.05;

/// Returns the sentence: `Switch: nothing is lost; connections take the same time; …`
pub(super) fn sentence(evidence: &Evidence<'_>, questions: &[Question]) -> String {
    let clauses = [
        Some(sites(evidence, questions)),
        glitches(evidence, questions),
        servers(evidence),
        Some(connections(evidence)),
        first_connection(evidence),
        fast::is_open_in_memory(evidence).then(|| "speed in memory is open".to_owned()),
        memory(evidence),
    ];
    format!(
        "{} {}.",
        decision(evidence, questions),
        clauses.into_iter().flatten().join("; ")
    )
}

/// Returns the decision that the answers allow, with the punctuation before the clauses. An untested part leaves it
/// open, so that leaving a part out never makes a switch look better; a part that does not exist for a stack is
/// named.
fn decision(evidence: &Evidence<'_>, questions: &[Question]) -> String {
    let any = |answer| questions.iter().any(|question| question.answer == answer);
    if any(Answer::No) {
        return "Do not switch yet:".to_owned();
    }
    if let Some(untested) = basis::untested(evidence) {
        return format!("Not decided: {untested};");
    }
    let decision = if any(Answer::Open) {
        "Not decided yet"
    } else if any(Answer::WithLosses) {
        "Switch with care"
    } else {
        "Switch"
    };
    match basis::excluded(evidence) {
        Some(excluded) => format!("{decision} ({excluded} not included):"),
        None => format!("{decision}:"),
    }
}

fn sites(evidence: &Evidence<'_>, questions: &[Question]) -> String {
    let Some(losses) = evidence.losses else {
        return "which sites would be lost was not tested".to_owned();
    };
    let reached = losses.both + losses.lost.len() as u64;
    match losses.lost.len() {
        _ if reached == 0 => format!("{} itself reaches none of the sites", evidence.from),
        0 if evidence.built_in_sites => format!(
            "no site of the built-in list is lost{}",
            not_given(evidence)
        ),
        0 if questions.get(1).map(|works| works.answer) == Some(Answer::Yes)
            && basis::untested(evidence)
                .or(basis::excluded(evidence))
                .is_none() =>
        {
            "nothing is lost".to_owned()
        }
        0 => "no site is lost".to_owned(),
        lost => {
            let reasons = losses.lost.iter().counts_by(|site| site.reason.as_str());
            let reasons = reasons.into_iter().sorted().map(|(reason, sites)| {
                if sites == lost {
                    reason.to_owned()
                } else {
                    format!("{sites} {reason}")
                }
            });
            let is = if lost == 1 { "is" } else { "are" };
            let reasons = reasons.collect_vec().join(", ");
            let given = not_given(evidence);
            format!("{lost} of {reached} sites {is} lost ({reasons}){given}")
        }
    }
}

/// Returns the sites of the web, which decide if the user gave none; empty if the user did.
fn not_given(evidence: &Evidence<'_>) -> String {
    if !evidence.built_in_sites {
        return String::new();
    }
    let web = evidence.web.filter(|web| web.high > 0.0).map(|web| {
        let [expected, low, high] = rounded(web);
        format!(
            ", {expected} ({low} to {high}) of a million sites of the web are expected to be lost"
        )
    });
    let web = web.unwrap_or_default();
    format!("{web}, and your own sites were not given")
}

/// Returns the failures beyond the lost sites; `None` if there are none.
fn glitches(evidence: &Evidence<'_>, questions: &[Question]) -> Option<String> {
    let failing = works::failing(evidence);
    let lost = evidence.losses.iter().flat_map(|losses| &losses.lost);
    let lost = lost.map(|site| site.site.as_str()).collect_vec();
    let more = failing.iter().filter(|site| !lost.contains(site)).count();
    if more > 0 {
        let other = if lost.is_empty() { "" } else { " other" };
        let sites = match more {
            1 => "site fails",
            _ => "sites fail",
        };
        return Some(format!("{more}{other} {sites} with {}", evidence.to));
    }
    match questions.get(1)?.answer {
        Answer::Open => Some(format!("whether {} works is open", evidence.to)),
        Answer::WithLosses | Answer::No if lost.is_empty() && servers(evidence).is_none() => {
            Some("not all tests went as they should".to_owned())
        }
        _ => None,
    }
}

/// Returns the deteriorations with servers of the catalogue; `None` if there are none.
fn servers(evidence: &Evidence<'_>) -> Option<String> {
    let compat = evidence.compat?;
    let worse = compat.worse().len();
    (worse > 0).then(|| {
        format!(
            "{worse} of {} test servers fare worse with {}",
            compat.told_of_both(),
            evidence.to
        )
    })
}

/// Returns the result of a row of connections, to follow “take”.
fn takes(row: &PhaseRow) -> String {
    let (first_ns, ratio) = (row.first.p50_ns, row.change.ratio);
    let by = |word: &str| {
        let ms = time((first_ns * (ratio - 1.0)).abs());
        format!("{ms} {word} ({})", change(ratio))
    };
    match row.change.verdict {
        Verdict::Same => "the same time".to_owned(),
        Verdict::Faster => by("less"),
        Verdict::Slower => by("longer"),
        Verdict::Undecided | Verdict::NotJudged => match row.change.interval {
            Some(interval) if interval.high <= NO_MORE_THAN => {
                let most = change(interval.high.max(1.0));
                format!("at most {} longer", most.trim_start_matches('+'))
            }
            _ => "a time that is not decided yet".to_owned(),
        },
    }
}

fn connections(evidence: &Evidence<'_>) -> String {
    if evidence.timed().is_some_and(ConnectSummary::is_loopback) {
        return "connections were timed over loopback alone".to_owned();
    }
    let comparisons = evidence
        .timed()
        .into_iter()
        .flat_map(|run| &run.comparisons);
    let rows = comparisons
        .filter(|comparison| comparison.first == *evidence.from && comparison.other == *evidence.to)
        .filter(|comparison| comparison.condition != Condition::Cold)
        .filter_map(|comparison| {
            let row = comparison.phase(Phase::Total)?;
            Some((comparison.condition, takes(row)))
        })
        .collect_vec();
    match rows.as_slice() {
        [] => "connections were not compared".to_owned(),
        rows if rows.iter().map(|(_, takes)| takes).all_equal() => {
            format!("connections take {}", rows[0].1)
        }
        [(condition, takes), rest @ ..] => {
            let rest = rest.iter();
            let rest = rest.map(|(condition, takes)| format!(", {condition} ones {takes}"));
            format!("{condition} connections take {takes}{}", rest.format(""))
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

/// Returns the memory of a session, for the newest version and the largest number of sessions that were measured:
/// the heap of a client's and of a server's, or half of both together if they were not measured separately.
fn memory(evidence: &Evidence<'_>) -> Option<String> {
    let [client, server, both] = [
        Measure::HeapOfClient,
        Measure::HeapOfServer,
        Measure::PerSession,
    ]
    .map(|measure| held(evidence, measure));
    let differs = |(from, to): &(f64, f64)| (to / from - 1.0).abs() > MEMORY;
    let change = |(from, to): (f64, f64)| format!("{} → {}", bytes(from), bytes(to));
    match (client, server) {
        (Some(client), Some(server)) => (differs(&client) || differs(&server)).then(|| {
            format!(
                "heap of a client's session {}, of a server's {}",
                change(client),
                change(server)
            )
        }),
        _ => both.filter(differs).map(|both| {
            format!(
                "memory per session (half of a client's and a server's together) {}",
                change(both)
            )
        }),
    }
}

/// Returns the memory of a session with the stack in use and with the new one.
fn held(evidence: &Evidence<'_>, measure: Measure) -> Option<(f64, f64)> {
    let rows = evidence.cases().filter_map(|row| {
        let Work::Memory {
            settings,
            sessions,
            after: HeldAfter::Handshake,
        } = &row.case.scenario.work
        else {
            return None;
        };
        let of = |stack: &StackName| row.of(stack).map(|figures| figures.low);
        let figures = (of(evidence.from)?, of(evidence.to)?);
        (row.case.measure == measure).then_some(((settings.version, *sessions), figures))
    });
    let (_, figures) = rows.max_by_key(|(key, _)| *key)?;
    Some(figures)
}
