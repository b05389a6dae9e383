//! Does the new stack support what the web needs?

use std::collections::BTreeMap;

use netbench_model::{
    Losses, Target,
    coverage::{Coverage, ShimSummary},
};

use super::{Answer, Evidence, KeyFigure, Question, lacking, of_lost};
use crate::text::{count, percent};

/// Sites of one reason that are named.
const NAMED: usize = 5;

pub(crate) fn answer(evidence: &Evidence<'_>) -> Question {
    let (from, to) = (evidence.from, evidence.to);
    let mut figures = Vec::new();
    let mut breaks = Vec::new();
    let mut missing = Vec::new();
    let (answer, because) = match evidence.losses {
        Some(losses) => {
            sites(losses, evidence, &mut figures, &mut breaks);
            verdict(losses, evidence)
        }
        None => {
            missing.extend(evidence.missing("sites", "which sites would be lost"));
            let open =
                format!("Whether {to} reaches the sites that {from} reaches was not looked at.");
            (Answer::Open, open)
        }
    };
    match evidence.coverage {
        Some(coverage) => features(coverage, evidence, &mut figures, &mut breaks),
        None => {
            let what = "features, by BoringSSL's protocol tests";
            missing.extend(evidence.missing("features", what));
        }
    }
    Question {
        question: format!("Does {to} support what the sites need?"),
        answer,
        because,
        figures,
        breaks,
        missing,
    }
}

fn verdict(losses: &Losses, evidence: &Evidence<'_>) -> (Answer, String) {
    let (from, to) = (evidence.from, evidence.to);
    let sites = match evidence.target {
        Target::Lab => "emulated sites",
        Target::Live => "sites",
    };
    let reached = losses.both + losses.lost.len() as u64;
    if reached == 0 {
        let because = format!("{from} itself can agree with none of the {sites}.");
        return (Answer::Open, because);
    }
    if losses.lost.is_empty() {
        let because = format!("{to} can agree with each of the {reached} {sites} that {from} can.");
        return (Answer::Yes, because);
    }
    let because = format!(
        "{to} cannot agree with {} of the {reached} {sites} that {from} can.",
        losses.lost.len()
    );
    let answer = of_lost(losses.lost.len() as u64, reached);
    (answer, because)
}

fn sites(
    losses: &Losses,
    evidence: &Evidence<'_>,
    figures: &mut Vec<KeyFigure>,
    breaks: &mut Vec<String>,
) {
    let reached = losses.both + losses.lost.len() as u64;
    figures.push(KeyFigure {
        value: format!("{} of {reached}", losses.lost.len()),
        label: "sites lost".to_owned(),
    });
    let mut by_reason: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for lost in &losses.lost {
        by_reason.entry(&lost.reason).or_default().push(&lost.site);
    }
    for (reason, sites) in by_reason {
        let mut named = sites
            .iter()
            .take(NAMED)
            .copied()
            .collect::<Vec<_>>()
            .join(", ");
        if sites.len() > NAMED {
            named.push_str(&format!(" and {} more", sites.len() - NAMED));
        }
        let sites = count(sites.len(), "site", "sites");
        breaks.push(format!("{sites} lost ({reason}): {named}"));
    }
    if !losses.gained.is_empty() {
        figures.push(KeyFigure {
            value: losses.gained.len().to_string(),
            label: format!("sites that only {} reaches", evidence.to),
        });
    }
}

fn features(
    coverage: &Coverage,
    evidence: &Evidence<'_>,
    figures: &mut Vec<KeyFigure>,
    breaks: &mut Vec<String>,
) {
    if let [first, second, ..] = coverage.shims.as_slice() {
        let share =
            |shim: &ShimSummary| percent(shim.works.passed as f64, shim.works.total() as f64);
        figures.push(KeyFigure {
            value: format!("{} (before: {})", share(second), share(first)),
            label: "of BoringSSL's tests that expect success (many are of its own features)"
                .to_owned(),
        });
    }
    let lacking = lacking(coverage);
    if !lacking.is_empty() {
        let names: Vec<_> = lacking.iter().map(|row| row.feature.as_str()).collect();
        breaks.push(format!(
            "{} that {} has and {} has not: {}",
            count(names.len(), "feature", "features"),
            evidence.from,
            evidence.to,
            names.join("; ")
        ));
    }
}
