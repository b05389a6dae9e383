//! The question whether the new stack is fast enough.

use itertools::Itertools;
use netbench_model::{Condition, Part, Phase, Profile, Quantity, Unit};
use netbench_stats::Verdict;

use super::{
    evidence::Evidence,
    limits::of_totals,
    means::{Mean, NoFigure, means},
    question::{Answer, Question},
};
use crate::{
    ColdRow, Comparison, ConnectSummary,
    connect::{PhaseRow, first_cost, first_longer, not_measurable},
    suite::row_name,
    text::{TOO_FEW, change, count, interval, signed_time, some_of, time, time_and_change},
};

/// Number of cases of the suite that are named as slower.
const NAMED: usize = 3;

pub(crate) fn answer(evidence: &Evidence<'_>) -> Question {
    let to = evidence.to;
    let mut question = Question::open(match evidence.parts {
        Some(_) => format!("Is {to} fast enough?"),
        None => format!("Are connections of {to} fast enough?"),
    });
    let totals = totals(evidence);
    (question.answer, question.because) = verdict(evidence, &totals);
    judge_first_connection(evidence, &mut question);
    if let Some(why) = same_settings(evidence) {
        question.because = format!("{} {why}", question.because);
    }
    if totals.is_empty() {
        let missing = evidence.missing("connections", "times of whole connections");
        question.missing.extend(missing);
    }
    if let Some(connections) = evidence.timed() {
        whole_connections(connections, &totals, &mut question);
    }
    first_connection(evidence, &mut question);
    if let Some(connections) = evidence.timed().filter(|c| !c.is_loopback()) {
        slower_sites(connections, evidence, &mut question.breaks);
    }
    if evidence.suites.iter().all(|suite| !suite.compares()) {
        let missing = evidence.missing("suite", "what the libraries take in memory");
        question.missing.extend(missing);
    }
    if !evidence.suites.is_empty() {
        let means = means(evidence);
        let of_connections = question.figures.len();
        let slower = means.iter().filter(|mean| mean.is_slower());
        let slower = slower.sorted_by(|a, b| b.ratio.total_cmp(&a.ratio));
        let others = means.iter().filter(|mean| !mean.is_slower());
        slower
            .chain(others)
            .for_each(|mean| mean.tell(&mut question));
        question.breaks.extend(slower_cases(evidence));
        // The parts that take longer come first if connections do not.
        if question.answer == Answer::Yes && means.iter().any(Mean::is_slower) {
            question.figures.rotate_left(of_connections);
        }
        // An evaluation and a run of the suite alone answer one question.
        let (answer, because) = verdict_in_memory(evidence, &means);
        question.answer = question.answer.limited_by(match answer {
            _ if means.iter().any(Mean::is_no) => Answer::No,
            // Whole connections contain the time in memory, unless it is a multiple.
            Answer::No => Answer::WithLosses,
            answer => answer,
        });
        if answer != Answer::Yes {
            question.because = format!("{} In memory: {because}", question.because);
        }
    }
    question
}

/// Returns the part of the suite that is slower by the largest ratio: `in-memory bulk received +31 %`. Returns that the
/// speed is open if no part is slower and the suite leaves it open, and `None` if it was not run.
pub(super) fn worst_in_memory(evidence: &Evidence<'_>) -> Option<String> {
    if evidence.suites.is_empty() {
        return None;
    }
    let means = means(evidence);
    let slower = means.iter().filter(|mean| mean.is_slower());
    match slower.max_by(|a, b| a.ratio.total_cmp(&b.ratio)) {
        Some(worst) => {
            let kind = match worst.part {
                Part::Memory => "",
                _ => "in-memory ",
            };
            Some(format!("{kind}{} {}", worst.name, change(worst.ratio)))
        }
        None => (verdict_in_memory(evidence, &means).0 == Answer::Open)
            .then(|| "speed in memory is open".to_owned()),
    }
}

/// The same question of a run of the suite alone, by the means of the client's cases: the answer is no if a part that
/// every connection pays for takes more than the first end of the limit.
pub(crate) fn answer_in_memory(evidence: &Evidence<'_>) -> Question {
    let means = means(evidence);
    let to = evidence.to;
    let sizes_alone = evidence.cases().all(|case| case.part == Part::Memory);
    let mut question = Question::open(if sizes_alone {
        format!("Does {to} take no more memory?")
    } else {
        format!("Is {to} fast enough in memory?")
    });
    (question.answer, question.because) = verdict_in_memory(evidence, &means);
    means.iter().for_each(|mean| mean.tell(&mut question));
    question.breaks.extend(slower_cases(evidence));
    question
}

/// The answer by the means of the parts of which all cases have figures, and the reason. Sizes alone do not answer a
/// question about times.
fn verdict_in_memory(evidence: &Evidence<'_>, means: &[Mean]) -> (Answer, String) {
    let (answer, because) = verdict_by_means(evidence, means);
    let is_timed = evidence.cases().any(|case| case.part != Part::Memory);
    let mut verdicts = evidence.verdicts();
    let is_compared = verdicts.any(|(case, _)| case.part != Part::Memory);
    if is_timed && !is_compared && !means.is_empty() {
        return (Answer::Open, format!("No times were compared. {because}"));
    }
    (answer, because)
}

/// The same answer, whether or not times were compared.
fn verdict_by_means(evidence: &Evidence<'_>, means: &[Mean]) -> (Answer, String) {
    let (from, to) = (evidence.from, evidence.to);
    let verdicts = evidence.verdicts().collect_vec();
    let undecided = verdicts.iter();
    let undecided = undecided
        .filter_map(|(_, verdict)| NoFigure::of_undecided(verdict))
        .collect_vec();
    let limit = limit_in_words(means);
    if verdicts.is_empty() {
        return (Answer::Open, "No case was compared.".to_owned());
    }
    if undecided.len() == verdicts.len() {
        let why = NoFigure::in_words(undecided);
        return (Answer::Open, format!("No case was decided: {why}."));
    }
    let slower = means.iter().filter(|mean| mean.is_slower()).collect_vec();
    let (decided, open): (Vec<&Mean>, Vec<&Mean>) =
        means.iter().partition(|mean| mean.is_decided());
    let why_open = NoFigure::in_words(open.iter().flat_map(|mean| mean.reasons()));
    let not_decided = format!("Not decided: {}: {why_open}.", labels(&open));
    if !slower.is_empty() {
        let parts = slower.iter();
        let parts = parts.map(|mean| format!("{} {}", mean.name, change(mean.ratio)));
        let because = format!(
            "{to} takes more than {limit} more than {from}: {}.",
            parts.format(", ")
        );
        let mut headlines = slower.iter();
        let is_no = headlines.any(|mean| mean.is_headline() || mean.is_no());
        return if slower.len() == means.len() || is_no {
            (Answer::No, because)
        } else if open.iter().any(|mean| mean.is_headline()) {
            // A part that every connection pays for could be slower too.
            (Answer::Open, format!("{because} {not_decided}"))
        } else {
            (Answer::WithLosses, because)
        };
    }
    match (decided.is_empty(), open.is_empty()) {
        (true, true) => (
            Answer::Open,
            "No case of the client's side was compared.".to_owned(),
        ),
        (true, false) => (
            Answer::Open,
            format!("No part of the suite has figures of all cases: {why_open}."),
        ),
        (false, false) => (
            Answer::Open,
            format!(
                "By the mean of the cases, {to} takes at most {limit} more than {from} for {}. {not_decided}",
                labels(&decided)
            ),
        ),
        (false, true) => (
            Answer::Yes,
            format!(
                "In no part of the suite {to} takes more than {limit} more than {from}, by the mean of its cases."
            ),
        ),
    }
}

/// Returns the limit of the means, and that of memory if it is another one.
fn limit_in_words(means: &[Mean]) -> String {
    let limits = means.iter().map(|mean| (mean.part, mean.limit.yes));
    let limits = limits.unique_by(|(_, yes)| *yes).collect_vec();
    match limits.as_slice() {
        [] => String::new(),
        [(_, first)] => first.to_string(),
        [(_, first), rest @ ..] => {
            let rest = rest.iter();
            let rest = rest.map(|(part, yes)| format!("{}: {yes}", part.name()));
            format!("{first} ({})", rest.format(", "))
        }
    }
}

fn labels(means: &[&Mean]) -> String {
    means.iter().map(|mean| mean.label).join(", ")
}

fn whole_connections(
    connections: &ConnectSummary,
    totals: &[(Condition, &PhaseRow)],
    question: &mut Question,
) {
    let over = connections.over();
    for (condition, row) in totals {
        let pairs = count(row.change.pairs(), "pair", "pairs");
        match row.change.interval {
            Some(ends) => question.figure(
                time_and_change(row.first.p50_ns, row.change.ratio),
                format!(
                    "whole connection{over}, {condition} ({}; n = {pairs})",
                    interval(Some(ends))
                ),
            ),
            None => question.missing.push(format!(
                "times of whole connections, {condition}: {TOO_FEW} ({pairs})"
            )),
        }
    }
}

/// Adds the one-time cost of a process's first connection, if it was measured: a time, which does not count against
/// every connection.
fn first_connection(evidence: &Evidence<'_>, question: &mut Question) {
    for stack in not_measurable(cold(evidence), evidence.from, evidence.to) {
        question.missing.push(format!(
            "what a process pays once for its first connection: not measurable with {stack}, whose later connections take longer"
        ));
    }
    let Some(cost) = first_cost(cold(evidence), evidence.from, evidence.to) else {
        return;
    };
    question.figure(
        signed_time(cost.other_ns - cost.first_ns),
        format!(
            "{} once per process, for the first connection ({} {}, {} {}; n = {})",
            cost.what,
            evidence.from,
            time(cost.first_ns),
            evidence.to,
            time(cost.other_ns),
            count(cost.processes, "process", "processes")
        ),
    );
}

fn cold<'a>(evidence: &Evidence<'a>) -> &'a [ColdRow] {
    evidence
        .timed()
        .map_or(&[], |connections| &connections.cold)
}

/// Judges the first connection of a process by its own limit: a program for one request pays it each time.
fn judge_first_connection(evidence: &Evidence<'_>, question: &mut Question) {
    let Some(longer) = first_longer(cold(evidence), evidence.from, evidence.to) else {
        return;
    };
    let (answer, judged) = longer.judge(evidence.thresholds.of(Quantity::FirstConnection));
    question.answer = question.answer.limited_by(answer);
    question.because = format!(
        "{} The first connection of a process {} by wall clock, {judged}.",
        question.because,
        longer.takes()
    );
}

/// Returns the total time of each condition that concerns every connection: `cold`, whose cost is paid once, is
/// left out.
pub(super) fn totals<'a>(evidence: &Evidence<'a>) -> Vec<(Condition, &'a PhaseRow)> {
    comparisons(evidence)
        .filter_map(|comparison| Some((comparison.condition, comparison.phase(Phase::Total)?)))
        .collect()
}

/// Returns the comparisons that concern every connection: `cold` is left out.
fn comparisons<'a>(evidence: &Evidence<'a>) -> impl Iterator<Item = &'a Comparison> + use<'a> {
    let (from, to) = (evidence.from, evidence.to);
    let comparisons = evidence.timed().into_iter().flat_map(|c| &c.comparisons);
    comparisons
        .filter(move |comparison| comparison.first == *from && comparison.other == *to)
        .filter(|comparison| comparison.condition != Condition::Cold)
}

fn verdict(evidence: &Evidence<'_>, totals: &[(Condition, &PhaseRow)]) -> (Answer, String) {
    let (from, to) = (evidence.from, evidence.to);
    let limit = evidence.thresholds.of(Quantity::ConnectionTime);
    let loopback = evidence.timed().filter(|c| c.is_loopback());
    if let Some(connections) = loopback {
        let because = format!(
            "Connections were made over loopback, where nothing waits: their times say nothing of a network. Link: {}.",
            connections.link.why.trim_end_matches('.')
        );
        return (Answer::Open, because);
    }
    let answer = of_totals(totals.iter().map(|(_, row)| &row.change), limit);
    let yes = limit.yes;
    let because = match answer {
        Answer::Open if totals.is_empty() => no_totals(evidence),
        Answer::Open => format!(
            "Too few connections to tell whether {to} takes more than {yes} longer: more rounds decide it."
        ),
        Answer::Yes => {
            let each = totals.iter();
            let each = each.map(|(condition, row)| match row.change.verdict {
                Verdict::Same => format!("the same ({condition})"),
                _ => format!("{} ({condition})", change(row.change.ratio)),
            });
            format!(
                "Whole connections with {to}, against {from}{}: {}; no interval goes beyond {yes} longer.",
                on_sites(evidence),
                each.format(", ")
            )
        }
        Answer::WithLosses | Answer::No => {
            let beyond = limit.no.filter(|_| answer == Answer::No).unwrap_or(yes);
            let slower = totals
                .iter()
                .map(|(condition, row)| (condition, &row.change))
                .filter(|(_, paired)| paired.interval.is_some_and(|i| i.low > yes.ratio()))
                .map(|(condition, paired)| format!("{condition} {}", change(paired.ratio)));
            format!(
                "With {to} whole connections take more than {beyond} longer{}: {}.",
                on_sites(evidence),
                slower.format(", ")
            )
        }
    };
    (answer, because)
}

fn no_totals(evidence: &Evidence<'_>) -> String {
    if let Some(because) = other_work(evidence) {
        return because;
    }
    match first_longer(cold(evidence), evidence.from, evidence.to) {
        Some(_) => {
            "Only first connections were made: `--condition clean` tells of the others.".to_owned()
        }
        None => {
            let why = evidence.because_of("connections");
            format!("No connections could be compared{why}")
        }
    }
}

/// States that the stacks negotiated different parameters in every connection except first ones, if they did.
fn other_work(evidence: &Evidence<'_>) -> Option<String> {
    let connections = evidence.timed()?;
    let why = connections.most_different(evidence.to)?;
    let advice = match (
        &evidence.found.same_settings,
        connections.run.client_profile,
    ) {
        (Some(pinned), _) => match pinned.unsupported.first() {
            Some(row) => format!(
                "; the same settings for both are unsupported: {}",
                row.reason
            ),
            None => {
                "; with the same settings for both there was nothing to compare either".to_owned()
            }
        },
        (None, Some(Profile::Library)) => {
            ": `--client-profile default` has both offer the same".to_owned()
        }
        (None, _) => String::new(),
    };
    Some(format!(
        "{} and {} did not agree on the same with any site ({why}), and connections with different work are not compared{advice}.",
        evidence.from, evidence.to
    ))
}

/// States that the times are not of the stacks' own settings, if they are not.
fn same_settings(evidence: &Evidence<'_>) -> Option<String> {
    let pinned = evidence.pinned()?;
    let why = evidence.connections?.most_different(evidence.to)?;
    let profile = pinned.run.client_profile.unwrap_or(Profile::Default).name();
    Some(format!(
        "Times are of connections with the same settings for both (`--client-profile {profile}`): with their own settings they \
         agree on different things with most sites ({why})."
    ))
}

/// Returns ` on 3 of 101 sites`, if not all of them could be compared.
fn on_sites(evidence: &Evidence<'_>) -> String {
    let Some(connections) = evidence.timed() else {
        return String::new();
    };
    let sites = connections.run.sites;
    let compared = comparisons(evidence).map(|comparison| {
        let rows = comparison.sites.rows.iter();
        let sites = rows.map(|row| connections.site_of(&row.key.site));
        sites.unique().count() as u64
    });
    match compared.max() {
        Some(compared) if compared < sites => format!(", on {compared} of {sites} sites"),
        _ => String::new(),
    }
}

fn slower_sites(connections: &ConnectSummary, evidence: &Evidence<'_>, breaks: &mut Vec<String>) {
    for comparison in comparisons(evidence) {
        let tally = &comparison.sites;
        // Some sites are called slower by chance even if the stacks do not differ.
        if tally.first_faster as f64 > tally.expected_by_chance {
            let sites = connections.count_rows(tally.first_faster);
            breaks.push(format!(
                "{sites} on which {} takes longer ({}; by chance {:.1})",
                evidence.to, comparison.condition, tally.expected_by_chance
            ));
        }
    }
}

/// The cases that are slower, the worst of them by name.
fn slower_cases(evidence: &Evidence<'_>) -> Option<String> {
    let slower = evidence
        .verdicts()
        .filter(|(row, verdict)| {
            verdict.change.verdict == Verdict::Slower && row.unit == Unit::Nanoseconds
        })
        .map(|(row, verdict)| (verdict.change.ratio, row.name.as_str()))
        .sorted_by(|(a, _), (b, _)| b.total_cmp(a))
        .collect_vec();
    if slower.is_empty() {
        return None;
    }
    let cases = count(slower.len(), "case", "cases");
    let named = slower
        .iter()
        .map(|(ratio, name)| format!("{} {}", row_name(name), change(*ratio)));
    let named = some_of(NAMED, named);
    Some(format!("slower in memory in {cases}: {named}"))
}
