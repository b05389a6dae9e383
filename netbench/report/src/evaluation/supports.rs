//! Does the new stack support what the web needs?

use std::collections::BTreeMap;

use itertools::Itertools;
use netbench_model::{
    Losses, Target,
    coverage::{Coverage, FeatureRow, ShimSummary},
};

use super::{Answer, Evidence, Question, of_lost};
use crate::text::{count, percent, some_of};

/// Sites of one reason that are named.
const NAMED: usize = 5;

pub(crate) fn answer(evidence: &Evidence<'_>) -> Question {
    let (from, to) = (evidence.from, evidence.to);
    let mut question = Question::open(format!("Does {to} support what the sites need?"));
    match evidence.losses {
        Some(losses) => {
            sites(&mut question, losses, evidence);
            (question.answer, question.because) = verdict(losses, evidence);
        }
        None => {
            let missing = evidence.missing("sites", "which sites would be lost");
            question.missing.extend(missing);
            let why = evidence.because_of("sites");
            question.because =
                format!("Whether {to} reaches the sites that {from} reaches was not tested{why}");
        }
    }
    match evidence.coverage {
        Some(coverage) => features(&mut question, coverage, evidence),
        None => {
            let what = "features, by BoringSSL's protocol tests";
            question.missing.extend(evidence.missing("features", what));
        }
    }
    question
}

fn verdict(losses: &Losses, evidence: &Evidence<'_>) -> (Answer, String) {
    let (from, to) = (evidence.from, evidence.to);
    let (site, sites) = match evidence.target {
        Target::Lab => ("emulated site", "emulated sites"),
        Target::Loopback | Target::Live => ("site", "sites"),
    };
    let reached = losses.both + losses.lost.len() as u64;
    if reached == 0 {
        let because = format!("{from} itself can agree with none of the {sites}.");
        return (Answer::Open, because);
    }
    let all = match reached {
        1 => format!("the one {site}"),
        reached => format!("the {reached} {sites}"),
    };
    let because = match losses.lost.len() {
        0 if reached == 1 => format!("{to} can agree with {all} that {from} can."),
        0 => format!("{to} can agree with each of {all} that {from} can."),
        _ if reached == 1 => format!("{to} cannot agree with {all} that {from} can."),
        lost => format!("{to} cannot agree with {lost} of {all} that {from} can."),
    };
    (answer_of(losses), because)
}

/// By the share of sites that are lost, of those that the stack in use can agree with.
pub(super) fn answer_of(losses: &Losses) -> Answer {
    let lost = losses.lost.len() as u64;
    match losses.both + lost {
        0 => Answer::Open,
        reached => of_lost(lost, reached),
    }
}

fn sites(question: &mut Question, losses: &Losses, evidence: &Evidence<'_>) {
    let reached = losses.both + losses.lost.len() as u64;
    question.figure(format!("{} of {reached}", losses.lost.len()), "sites lost");
    let mut by_reason: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for lost in &losses.lost {
        by_reason.entry(&lost.reason).or_default().push(&lost.site);
    }
    for (reason, sites) in by_reason {
        let lost = count(sites.len(), "site", "sites");
        let named = some_of(NAMED, sites);
        question
            .breaks
            .push(format!("{lost} lost ({reason}): {named}"));
    }
    if losses.not_scanned > 0 {
        let sites = count(losses.not_scanned, "site", "sites");
        let missing = format!("{sites} of which the scan cannot tell");
        question.missing.push(missing);
    }
    if !losses.gained.is_empty() {
        let label = format!("sites that only {} reaches", evidence.to);
        question.figure(losses.gained.len(), label);
    }
}

fn features(question: &mut Question, coverage: &Coverage, evidence: &Evidence<'_>) {
    if let [first, second, ..] = coverage.shims.as_slice() {
        let share =
            |shim: &ShimSummary| percent(shim.works.passed as f64, shim.works.total() as f64);
        question.figure(
            format!("{} (before: {})", share(second), share(first)),
            "of BoringSSL's tests that expect success (many are of its own features)",
        );
    }
    let lacking = lacking(coverage);
    if !lacking.is_empty() {
        question.breaks.push(format!(
            "{} of {} that {} lacks: {}",
            count(lacking.len(), "feature", "features"),
            evidence.from,
            evidence.to,
            lacking.iter().map(|row| &row.feature).join("; ")
        ));
    }
}

/// Features of which the first column passes tests that expect success, and the second not one. A
/// feature that a library has and does in its own way passes some of them.
pub fn lacking(coverage: &Coverage) -> Vec<&FeatureRow> {
    let lacks = |row: &&FeatureRow| match row.works.as_slice() {
        [first, second, ..] => first.passed > 0 && second.passed == 0,
        _ => false,
    };
    coverage.features.iter().filter(lacks).collect()
}
