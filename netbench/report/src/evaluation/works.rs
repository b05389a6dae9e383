//! Does it work without glitches?

use std::collections::{BTreeMap, BTreeSet};

use netbench_model::coverage::{Category, Coverage, Ending, ShimSummary};

use super::{Answer, Evidence, KeyFigure, Question, of_lost};
use crate::{ConnectSummary, text::count};

/// Sites that are named as failing.
const NAMED: usize = 20;

pub(crate) fn answer(evidence: &Evidence<'_>) -> Question {
    let (from, to) = (evidence.from, evidence.to);
    let mut figures = Vec::new();
    let mut breaks = Vec::new();
    let mut missing = Vec::new();
    let mut reasons = Vec::new();
    let mut answer = Answer::Open;
    match evidence.connections {
        Some(connections) if connections.run.samples > 0 => {
            let failing = only_to(connections, evidence);
            let sites = connections.run.sites;
            figures.push(KeyFigure {
                value: format!("{} of {sites}", failing.len()),
                label: format!("sites on which a connection failed with {to} and none with {from}"),
            });
            answer = of_lost(failing.len() as u64, sites);
            reasons.push(if failing.is_empty() {
                format!(
                    "{} real connections to {sites} sites: none failed with {to} that works with {from}.",
                    connections.run.samples
                )
            } else {
                format!(
                    "{} failed with {to} where {from} has no failure.",
                    count(failing.len(), "site", "sites")
                )
            });
            let named = |(site, why): (&&str, &&str)| format!("{site}: {why}");
            breaks.extend(failing.iter().take(NAMED).map(named));
            if failing.len() > NAMED {
                breaks.push(format!("and {} more sites", failing.len() - NAMED));
            }
        }
        _ => missing.extend(evidence.missing("connections", "real connections")),
    }
    if let Some(losses) = evidence.losses {
        if losses.confirmed > 0 {
            figures.push(KeyFigure {
                value: losses.confirmed.to_string(),
                label: "handshakes that went as the scan predicted".to_owned(),
            });
        }
        if !losses.contradicted.is_empty() {
            answer = worse(answer);
            breaks.extend(losses.contradicted.iter().cloned());
        }
    }
    match evidence.coverage {
        Some(coverage) => {
            if let Some(reason) = defects(coverage, evidence, &mut figures, &mut breaks) {
                answer = worse(answer);
                reasons.push(reason);
            }
        }
        None => {
            let what = "defects, by BoringSSL's protocol tests";
            missing.extend(evidence.missing("features", what));
        }
    }
    if reasons.is_empty() {
        reasons.push(format!("No connections were made with {to}."));
    }
    Question {
        question: format!("Does {to} work without glitches?"),
        answer,
        because: reasons.join(" "),
        figures,
        breaks,
        missing,
    }
}

/// A yes becomes a yes with losses; what is open stays so.
fn worse(answer: Answer) -> Answer {
    match answer {
        Answer::Yes => Answer::WithLosses,
        answer => answer,
    }
}

/// Sites that failed with the new stack and never with the old one, with the first reason.
fn only_to<'a>(
    connections: &'a ConnectSummary,
    evidence: &Evidence<'_>,
) -> BTreeMap<&'a str, &'a str> {
    let failures = || connections.failures.iter();
    let before: BTreeSet<&str> = failures()
        .filter(|row| row.stack == *evidence.from)
        .map(|row| row.site.as_str())
        .collect();
    let mut failing = BTreeMap::new();
    for row in
        failures().filter(|row| row.stack == *evidence.to && !before.contains(row.site.as_str()))
    {
        failing
            .entry(row.site.as_str())
            .or_insert(row.reason.as_str());
    }
    failing
}

/// What the protocol tests say of defects; a sentence where the new stack has more of them.
fn defects(
    coverage: &Coverage,
    evidence: &Evidence<'_>,
    figures: &mut Vec<KeyFigure>,
    breaks: &mut Vec<String>,
) -> Option<String> {
    let [first, second, ..] = coverage.shims.as_slice() else {
        return None;
    };
    let known = |shim: &ShimSummary| {
        shim.explained.get(&Category::Defect).copied().unwrap_or(0) + shim.unexplained.len()
    };
    let (before, after) = (known(first), known(second));
    figures.push(KeyFigure {
        value: format!("{after} (before: {before})"),
        label: "protocol tests that fail for a defect, or for no known reason".to_owned(),
    });
    // A hang that the shim's configuration explains is no crash.
    let crashes = |shim: &ShimSummary| {
        let crashed = |how: &&Ending| matches!(how, Ending::Crashed(_));
        shim.crashed.values().filter(crashed).count()
    };
    for (test, how) in &second.crashed {
        if let Ending::Crashed(signal) = how {
            breaks.push(format!(
                "{} crashes in the protocol test {test}: {signal}",
                evidence.to
            ));
        }
    }
    if after > before || crashes(second) > crashes(first) {
        return Some(format!(
            "By BoringSSL's tests it is the worse of the two: {after} fail for a defect or for no known reason, \
             against {before}, and {} crash, against {}.",
            crashes(second),
            crashes(first)
        ));
    }
    None
}
