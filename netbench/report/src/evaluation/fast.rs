//! Is it fast enough?

use netbench_model::{EvaluationPlan, Measure, Part, Phase, Unit};
use netbench_stats::{PairedRatio, Verdict};

use super::{Answer, Found, KeyFigure, NO_MORE_THAN, Parts, Question, count, of_totals};
use crate::{
    ConnectSummary, SuiteSummary,
    suite::preset::row_name,
    text::{change, interval},
};

/// Cases of the suite that are named as slower.
const NAMED: usize = 3;

pub(super) fn answer(plan: &EvaluationPlan, parts: &Parts<'_>, found: &Found) -> Question {
    let mut figures = Vec::new();
    let mut breaks = Vec::new();
    let mut missing = Vec::new();
    let totals = found.connections.as_deref().map(totals).unwrap_or_default();
    let (answer, because) = verdict(plan, &totals);
    if totals.is_empty() {
        missing.push(parts.why_missing("connections", "times of whole connections"));
    }
    for (condition, paired) in &totals {
        figures.push(KeyFigure {
            value: change(paired.ratio),
            label: format!(
                "whole connection, {condition} ({}; n = {} pairs)",
                interval(paired.interval),
                paired.pairs
            ),
        });
    }
    if let Some(connections) = &found.connections {
        slower_sites(connections, plan, &mut breaks);
    }
    if found.suites.iter().all(|suite| !suite.compares()) {
        missing.push(parts.why_missing("suite", "what the libraries take in memory"));
    }
    for suite in &found.suites {
        in_memory(suite, plan, &mut figures, &mut breaks);
    }
    Question {
        question: format!("Is {} fast enough?", plan.to),
        answer,
        because,
        figures,
        breaks,
        missing,
    }
}

/// The total time of each condition.
fn totals(connections: &ConnectSummary) -> Vec<(String, PairedRatio)> {
    let comparisons = connections.comparisons.iter();
    comparisons
        .filter_map(|comparison| {
            let total = |row: &&crate::PhaseRow| row.phase == Phase::Total;
            let row = comparison.phases.iter().find(total)?;
            Some((comparison.condition.to_string(), row.paired))
        })
        .collect()
}

fn verdict(plan: &EvaluationPlan, totals: &[(String, PairedRatio)]) -> (Answer, String) {
    let (from, to) = (&plan.from, &plan.to);
    let limit = format!("{:.0} %", (NO_MORE_THAN - 1.0) * 100.0);
    let answer = of_totals(totals.iter().map(|(_, paired)| paired));
    let because = match answer {
        Answer::Open if totals.is_empty() => "No connections could be compared.".to_owned(),
        Answer::Open => format!(
            "Too few connections to tell whether {to} takes more than {limit} longer: more rounds decide it."
        ),
        Answer::Yes => {
            let each: Vec<_> = totals
                .iter()
                .map(|(condition, paired)| format!("{} ({condition})", word(paired)))
                .collect();
            format!(
                "Whole connections with {to}, against {from}: {}; by no interval more than {limit} longer.",
                each.join(", ")
            )
        }
        Answer::WithLosses | Answer::No => {
            let slower = totals
                .iter()
                .filter(|(_, paired)| paired.interval.is_some_and(|i| i.low > NO_MORE_THAN))
                .map(|(condition, paired)| format!("{condition} {}", change(paired.ratio)));
            let slower: Vec<_> = slower.collect();
            format!(
                "With {to} whole connections take more than {limit} longer: {}.",
                slower.join(", ")
            )
        }
    };
    (answer, because)
}

fn word(paired: &PairedRatio) -> String {
    match paired.verdict {
        Verdict::Same => "the same".to_owned(),
        Verdict::Faster => format!("faster, {}", change(paired.ratio)),
        Verdict::Slower => format!("slower, {}", change(paired.ratio)),
        Verdict::Undecided => change(paired.ratio),
    }
}

fn slower_sites(connections: &ConnectSummary, plan: &EvaluationPlan, breaks: &mut Vec<String>) {
    for comparison in &connections.comparisons {
        let tally = &comparison.sites;
        // Some sites are called slower by chance even where nothing differs.
        if tally.first_faster as f64 > tally.expected_by_chance {
            let sites = count(
                tally.first_faster.try_into().unwrap_or(usize::MAX),
                "site",
                "sites",
            );
            breaks.push(format!(
                "{sites} on which {} takes longer ({}; by chance {:.1})",
                plan.to, comparison.condition, tally.expected_by_chance
            ));
        }
    }
}

/// What the suite says: handshakes of the client, data, and what is slower.
fn in_memory(
    suite: &SuiteSummary,
    plan: &EvaluationPlan,
    figures: &mut Vec<KeyFigure>,
    breaks: &mut Vec<String>,
) {
    for (part, measure, label) in [
        (
            Part::Handshake,
            Measure::Client,
            "client's side of a handshake in memory",
        ),
        (Part::Bulk, Measure::Receive, "receiving of data in memory"),
        (Part::Verify, Measure::Whole, "verification of a chain"),
        (Part::Connector, Measure::Whole, "making of a connector"),
    ] {
        let ratios: Vec<f64> = suite
            .cases
            .iter()
            .filter(|row| row.part == part && row.case.measure == measure)
            .flat_map(|row| &row.verdicts)
            .filter(|verdict| verdict.other == plan.to)
            .map(|verdict| verdict.paired.ratio)
            .collect();
        if let Some(mean) = geometric_mean(&ratios) {
            figures.push(KeyFigure {
                value: change(mean),
                label: format!("{label} (geometric mean of {} cases)", ratios.len()),
            });
        }
    }
    let mut slower: Vec<(f64, &str)> = suite
        .cases
        .iter()
        .flat_map(|row| row.verdicts.iter().map(move |verdict| (row, verdict)))
        .filter(|(row, verdict)| {
            verdict.other == plan.to
                && verdict.paired.verdict == Verdict::Slower
                && row.unit == Unit::Nanoseconds
        })
        .map(|(row, verdict)| (verdict.paired.ratio, row.name.as_str()))
        .collect();
    if slower.is_empty() {
        return;
    }
    slower.sort_by(|a, b| b.0.total_cmp(&a.0));
    let named: Vec<_> = slower
        .iter()
        .take(NAMED)
        .map(|(ratio, name)| format!("{} {}", row_name(name), change(*ratio)))
        .collect();
    let more = slower.len().saturating_sub(NAMED);
    let more = if more > 0 {
        format!(" and {more} more")
    } else {
        String::new()
    };
    let cases = count(slower.len(), "case", "cases");
    breaks.push(format!(
        "slower in memory in {cases}: {}{more}",
        named.join(", ")
    ));
}

fn geometric_mean(ratios: &[f64]) -> Option<f64> {
    if ratios.is_empty() {
        return None;
    }
    let sum: f64 = ratios.iter().map(|ratio| ratio.ln()).sum();
    Some((sum / ratios.len() as f64).exp())
}
