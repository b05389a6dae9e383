//! Is it fast enough?

use itertools::Itertools;
use netbench_model::{Condition, Measure, Part, Phase, Profile, Unit};
use netbench_stats::{PairedRatio, UndecidedReason, Verdict};

use super::{Answer, Evidence, NO_MORE_THAN, Question, of_totals};
use crate::{
    CaseRow, CaseVerdict, Comparison, ConnectSummary, SuiteSummary,
    connect::{cold_sentence, first_cost, first_longer},
    suite::row_name,
    text::{TOO_FEW, change, count, interval, signed_time, some_of, time, time_and_change},
};

/// Cases of the suite that are named as slower.
const NAMED: usize = 3;

pub(crate) fn answer(evidence: &Evidence<'_>) -> Question {
    let mut question = Question::open(format!("Is {} fast enough?", evidence.to));
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
        whole_connections(connections, evidence, &totals, &mut question);
    }
    first_connection(evidence, &mut question);
    if evidence.timed().is_some_and(|c| !c.is_loopback()) {
        slower_sites(evidence, &mut question.breaks);
    }
    if evidence.suites.iter().all(|suite| !suite.compares()) {
        let missing = evidence.missing("suite", "what the libraries take in memory");
        question.missing.extend(missing);
    }
    for suite in &evidence.suites {
        means(suite, evidence)
            .iter()
            .for_each(|mean| mean.tell(&mut question));
        question.breaks.extend(slower_cases(suite, evidence));
        judge_in_memory(suite, evidence, &mut question);
    }
    question
}

/// Has the answer for a run of the suite count for the evaluation too: the two answer one question.
fn judge_in_memory(suite: &SuiteSummary, evidence: &Evidence<'_>, question: &mut Question) {
    let in_memory = answer_in_memory(evidence, suite);
    if matches!(in_memory.answer, Answer::WithLosses | Answer::No) {
        question.answer = question.answer.at_best_with_losses();
        question.because = format!("{} In memory, {}", question.because, in_memory.because);
    }
}

/// The same question of a run of the suite alone: by the means of the client's cases, no more than
/// [`NO_MORE_THAN`] in any part.
pub(crate) fn answer_in_memory(evidence: &Evidence<'_>, suite: &SuiteSummary) -> Question {
    let means = means(suite, evidence);
    let told = || means.iter().filter(|mean| mean.is_whole());
    let (from, to) = (evidence.from, evidence.to);
    let sizes_alone = suite.cases.iter().all(|case| case.part == Part::Memory);
    let mut question = Question::open(if sizes_alone {
        format!("Does {to} take no more memory?")
    } else {
        format!("Is {to} fast enough in memory?")
    });
    let decided = suite.cases.iter().flat_map(|case| &case.verdicts);
    let decided = decided
        .filter(|verdict| verdict.other == *to)
        .any(|verdict| verdict.paired.verdict != Verdict::Undecided);
    let slower = || told().filter(|mean| mean.ratio > NO_MORE_THAN);
    let limit = format!("{:.0} %", (NO_MORE_THAN - 1.0) * 100.0);
    (question.answer, question.because) = match slower().count() {
        _ if !decided || told().count() == 0 => (
            Answer::Open,
            "No case was decided: more rounds decide it.".to_owned(),
        ),
        0 if told().count() < means.len() => (
            Answer::Open,
            format!(
                "Of {} of {} parts of the suite there are figures: in none of them {to} takes more than {limit} more than {from}, by \
                 the mean of its cases. More rounds on a quiet machine tell of the others.",
                told().count(),
                means.len()
            ),
        ),
        0 => (
            Answer::Yes,
            format!(
                "In no part of the suite {to} takes more than {limit} more than {from}, by the mean of its cases."
            ),
        ),
        count => (
            if count == means.len() {
                Answer::No
            } else {
                Answer::WithLosses
            },
            format!(
                "{to} takes more than {limit} more than {from}: {}.",
                slower()
                    .map(|mean| format!("{} {}", mean.part.name(), change(mean.ratio)))
                    .join(", ")
            ),
        ),
    };
    means.iter().for_each(|mean| mean.tell(&mut question));
    question.breaks.extend(slower_cases(suite, evidence));
    question
}

fn whole_connections(
    connections: &ConnectSummary,
    evidence: &Evidence<'_>,
    totals: &[(String, PairedRatio)],
    question: &mut Question,
) {
    let over = connections.over();
    for (condition, paired) in totals {
        let pairs = count(paired.pairs, "pair", "pairs");
        match paired.interval {
            Some(ends) => question.figure(
                with_time(evidence, condition, paired.ratio),
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

/// What a process pays once for its first connection, where it was measured: a time, which does not count
/// against every connection.
fn first_connection(evidence: &Evidence<'_>, question: &mut Question) {
    let rows = evidence
        .timed()
        .map_or(&[][..], |connections| &connections.cold);
    let Some(cost) = first_cost(rows, evidence.from, evidence.to) else {
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

/// The longest time by which the first connection of a process may become longer, by wall clock: 0.1 s, up to which a
/// reaction seems immediate (R. B. Miller: Response time in man-computer conversational transactions, 1968).
const FIRST_NO_LONGER_THAN_NS: f64 = 100e6;

/// Judges the first connection of a process by its own limit: a program for one request pays it each time.
fn judge_first_connection(evidence: &Evidence<'_>, question: &mut Question) {
    let rows = evidence
        .timed()
        .map_or(&[][..], |connections| &connections.cold);
    let Some(longer) = first_longer(rows, evidence.from, evidence.to) else {
        return;
    };
    let (low_ns, high_ns) = longer
        .range_ns
        .unwrap_or((longer.median_ns, longer.median_ns));
    let limit = time(FIRST_NO_LONGER_THAN_NS);
    let takes = if longer.median_ns < 0.0 {
        format!("{} less", time(longer.median_ns.abs()))
    } else {
        format!("{} longer", time(longer.median_ns))
    };
    let (answer, judged) = if high_ns <= FIRST_NO_LONGER_THAN_NS {
        (question.answer, format!("within the limit of {limit}"))
    } else if low_ns > FIRST_NO_LONGER_THAN_NS {
        let answer = question.answer.at_best_with_losses();
        (answer, format!("beyond the limit of {limit}"))
    } else {
        let answer = match question.answer {
            Answer::Yes => Answer::Open,
            answer => answer,
        };
        let range = format!("{} to {}", signed_time(low_ns), signed_time(high_ns));
        let why = format!("and the interval ({range}) contains the limit of {limit}");
        (answer, why)
    };
    question.answer = answer;
    question.because = format!(
        "{} The first connection of a process takes {takes} by wall clock, {judged}.",
        question.because
    );
}

/// A change of whole connections as a time too, of the median one with the stack in use.
fn with_time(evidence: &Evidence<'_>, condition: &str, ratio: f64) -> String {
    let mut rows = comparisons(evidence)
        .filter(|comparison| comparison.condition.to_string() == condition)
        .filter_map(|comparison| comparison.phase(Phase::Total));
    rows.next().map_or_else(
        || change(ratio),
        |row| time_and_change(row.first.p50_ns, ratio),
    )
}

/// The total time of each condition that tells of every connection: not of `cold`, whose cost is paid once.
fn totals(evidence: &Evidence<'_>) -> Vec<(String, PairedRatio)> {
    comparisons(evidence)
        .filter_map(|comparison| {
            let row = comparison.phase(Phase::Total)?;
            Some((comparison.condition.to_string(), row.paired))
        })
        .collect()
}

/// Those of every connection: not of `cold`.
fn comparisons<'a>(evidence: &Evidence<'a>) -> impl Iterator<Item = &'a Comparison> + use<'a> {
    let (from, to) = (evidence.from, evidence.to);
    let comparisons = evidence.timed().into_iter().flat_map(|c| &c.comparisons);
    comparisons
        .filter(move |comparison| comparison.first == *from && comparison.other == *to)
        .filter(|comparison| comparison.condition != Condition::Cold)
}

fn verdict(evidence: &Evidence<'_>, totals: &[(String, PairedRatio)]) -> (Answer, String) {
    let (from, to) = (evidence.from, evidence.to);
    let limit = format!("{:.0} %", (NO_MORE_THAN - 1.0) * 100.0);
    let loopback = evidence.timed().filter(|c| c.is_loopback());
    if let Some(connections) = loopback {
        let because = format!(
            "Connections were made over loopback, where nothing waits: their times say nothing of a network. Link: {}.",
            connections.link.why.trim_end_matches('.')
        );
        return (Answer::Open, because);
    }
    let answer = of_totals(totals.iter().map(|(_, paired)| paired));
    let because = match answer {
        Answer::Open if totals.is_empty() => no_totals(evidence),
        Answer::Open => format!(
            "Too few connections to tell whether {to} takes more than {limit} longer: more rounds decide it."
        ),
        Answer::Yes => {
            let each = totals
                .iter()
                .map(|(condition, paired)| format!("{} ({condition})", word(paired)));
            format!(
                "Whole connections with {to}, against {from}{}: {}; no interval goes beyond {limit} longer.",
                on_sites(evidence),
                each.format(", ")
            )
        }
        Answer::WithLosses | Answer::No => {
            let slower = totals
                .iter()
                .filter(|(_, paired)| paired.interval.is_some_and(|i| i.low > NO_MORE_THAN))
                .map(|(condition, paired)| format!("{condition} {}", change(paired.ratio)));
            format!(
                "With {to} whole connections take more than {limit} longer{}: {}.",
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
    let rows = evidence
        .timed()
        .map_or(&[][..], |connections| &connections.cold);
    match cold_sentence(rows, evidence.from, evidence.to) {
        Some(cost) => format!(
            "Only first connections were made: {cost}. `--condition clean` tells of the others."
        ),
        None => {
            let why = evidence.because_of("connections");
            format!("No connections could be compared{why}")
        }
    }
}

/// That both stacks agreed on something else in every connection but first ones, if they did.
fn other_work(evidence: &Evidence<'_>) -> Option<String> {
    let connections = evidence.timed()?;
    let why = most_different(connections, evidence)?;
    let advice = match (evidence.same_settings, connections.run.client_profile) {
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

/// That times are not of the stacks' own settings, where they are not.
fn same_settings(evidence: &Evidence<'_>) -> Option<String> {
    let pinned = evidence.same_settings.filter(|pinned| pinned.compares())?;
    let why = most_different(evidence.connections?, evidence)?;
    let profile = pinned.run.client_profile.unwrap_or(Profile::Default).name();
    Some(format!(
        "Times are of connections with the same settings for both (`--client-profile {profile}`): with their own settings they \
         agree on different things with most sites ({why})."
    ))
}

/// What differed in most of the connections that were not compared, first ones aside.
fn most_different<'a>(connections: &'a ConnectSummary, evidence: &Evidence<'_>) -> Option<&'a str> {
    let left_out = connections
        .left_out
        .iter()
        .filter(|row| row.other == *evidence.to && row.condition != Condition::Cold);
    let usual = left_out.max_by_key(|row| row.pairs)?;
    Some(&usual.why)
}

/// ` on 3 of 101 sites`, where not all of them could be compared.
fn on_sites(evidence: &Evidence<'_>) -> String {
    let sites = evidence
        .timed()
        .map_or(0, |connections| connections.run.sites);
    let compared = comparisons(evidence).map(|comparison| comparison.sites.rows.len() as u64);
    match compared.max() {
        Some(compared) if compared < sites => format!(", on {compared} of {sites} sites"),
        _ => String::new(),
    }
}

fn word(paired: &PairedRatio) -> String {
    match paired.verdict {
        Verdict::Same => "the same".to_owned(),
        Verdict::Faster | Verdict::Slower | Verdict::Undecided => change(paired.ratio),
    }
}

fn slower_sites(evidence: &Evidence<'_>, breaks: &mut Vec<String>) {
    for comparison in comparisons(evidence) {
        let tally = &comparison.sites;
        // Some sites are called slower by chance even where nothing differs.
        if tally.first_faster as f64 > tally.expected_by_chance {
            let sites = count(tally.first_faster, "site", "sites");
            breaks.push(format!(
                "{sites} on which {} takes longer ({}; by chance {:.1})",
                evidence.to, comparison.condition, tally.expected_by_chance
            ));
        }
    }
}

/// What a part of the suite takes, over its cases.
struct Mean {
    part: Part,
    label: &'static str,
    /// The cases with a figure, and their ratios.
    told: Vec<(String, f64)>,
    /// Cases without: with too few rounds, or of a machine that was never quiet.
    untold: Vec<String>,
    ratio: f64,
    /// The same mean of what the stack in use takes, where that is a time of one operation.
    from_ns: Option<f64>,
}

impl Mean {
    /// Whether every case has a figure. A mean without some of them could leave out the worst one.
    fn is_whole(&self) -> bool {
        self.untold.is_empty()
    }

    /// Adds the mean to the figures, or the cases one by one where some have no figure.
    fn tell(&self, question: &mut Question) {
        if !self.is_whole() {
            let untold = count(self.untold.len(), "case", "cases");
            let missing = format!(
                "{}: {untold} with too few rounds or without a quiet moment: {}",
                self.label,
                self.untold.join(", ")
            );
            question.missing.push(missing);
            for (name, ratio) in &self.told {
                question.figure(change(*ratio), format!("{}: {name}", self.label));
            }
            return;
        }
        let cases = count(self.told.len(), "case", "cases");
        let label = format!("{} (geometric mean of {cases})", self.label);
        let figure = match self.from_ns {
            Some(from_ns) => time_and_change(from_ns, self.ratio),
            None => change(self.ratio),
        };
        question.figure(figure, label);
    }
}

/// Whether there is enough behind a ratio to be read. What it is has no part in that.
fn tells(verdict: &CaseVerdict) -> bool {
    let never_quiet = matches!(
        verdict.undecided,
        Some(UndecidedReason::FewQuietTurns | UndecidedReason::NeverQuiet)
    );
    verdict.paired.interval.is_some() && !never_quiet
}

/// The one figure for each part of the suite that is shown wherever the run is summed up. A geometric
/// mean, because ratios multiply; of the client's cases, because it is clients that would switch, and
/// a middle of both sides' cases would hide which side gains.
fn means(suite: &SuiteSummary, evidence: &Evidence<'_>) -> Vec<Mean> {
    let parts = [
        (
            Part::Handshake,
            Measure::Client,
            "client's side of a handshake in memory",
        ),
        (Part::Bulk, Measure::Receive, "receiving of data in memory"),
        (Part::Verify, Measure::Whole, "verification of a chain"),
        (Part::Connector, Measure::Whole, "making of a connector"),
        (
            Part::Memory,
            Measure::Peak,
            "peak memory of a process with many sessions",
        ),
    ];
    let mean = |(part, measure, label): (Part, Measure, &'static str)| {
        let verdicts: Vec<(&CaseRow, &CaseVerdict)> = suite
            .cases
            .iter()
            .filter(|row| row.part == part && row.case.measure == measure)
            .flat_map(|row| row.verdicts.iter().map(move |verdict| (row, verdict)))
            .filter(|(_, verdict)| verdict.other == *evidence.to)
            .collect();
        let (told, untold): (Vec<_>, Vec<_>) =
            verdicts.iter().partition(|(_, verdict)| tells(verdict));
        let name = |row: &CaseRow| row_name(&row.name).to_string();
        let of_one_operation = matches!(part, Part::Handshake | Part::Verify | Part::Connector);
        let from = told
            .iter()
            .map(|(row, _)| row.of(evidence.from).map(|figures| figures.low));
        let from: Option<Vec<f64>> = from.filter(|_| of_one_operation).collect();
        (!verdicts.is_empty()).then(|| Mean {
            part,
            label,
            told: told
                .iter()
                .map(|(row, verdict)| (name(row), verdict.paired.ratio))
                .collect(),
            untold: untold.iter().map(|(row, _)| name(row)).collect(),
            ratio: geometric_mean(told.iter().map(|(_, verdict)| verdict.paired.ratio)),
            from_ns: from
                .filter(|from| !from.is_empty())
                .map(|from| geometric_mean(from.into_iter())),
        })
    };
    parts.into_iter().filter_map(mean).collect()
}

/// 1 of nothing.
fn geometric_mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = values.len().max(1) as f64;
    (values.map(f64::ln).sum::<f64>() / count).exp()
}

/// The cases that are slower, the worst of them by name.
fn slower_cases(suite: &SuiteSummary, evidence: &Evidence<'_>) -> Option<String> {
    let mut slower: Vec<(f64, &str)> = suite
        .cases
        .iter()
        .flat_map(|row| row.verdicts.iter().map(move |verdict| (row, verdict)))
        .filter(|(row, verdict)| {
            verdict.other == *evidence.to
                && verdict.paired.verdict == Verdict::Slower
                && row.unit == Unit::Nanoseconds
        })
        .map(|(row, verdict)| (verdict.paired.ratio, row.name.as_str()))
        .collect();
    if slower.is_empty() {
        return None;
    }
    slower.sort_by(|a, b| b.0.total_cmp(&a.0));
    let cases = count(slower.len(), "case", "cases");
    let named = slower
        .iter()
        .map(|(ratio, name)| format!("{} {}", row_name(name), change(*ratio)));
    let named = some_of(NAMED, named);
    Some(format!("slower in memory in {cases}: {named}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_is_given_only_of_all_cases() {
        let cases: [(&[&str], &[&str], &[&str], usize); 3] = [
            (&["a", "b"], &[], &["data (geometric mean of 2 cases)"], 0),
            (&["a", "b"], &["c"], &["data: a", "data: b"], 1),
            (&[], &["a", "c"], &[], 1),
        ];
        for (told, untold, labels, missing) in cases {
            let mut question = Question::open(String::new());
            let mean = Mean {
                part: Part::Bulk,
                label: "data",
                told: told.iter().map(|name| ((*name).to_owned(), 1.1)).collect(),
                untold: untold.iter().map(|name| (*name).to_owned()).collect(),
                ratio: 1.1,
                from_ns: None,
            };
            mean.tell(&mut question);
            let figures: Vec<&str> = question.figures.iter().map(|f| f.label.as_str()).collect();
            assert_eq!(figures, labels);
            assert_eq!(question.missing.len(), missing);
            let names_all = |line: &String| untold.iter().all(|name| line.contains(name));
            assert!(question.missing.iter().all(names_all));
        }
    }
}
