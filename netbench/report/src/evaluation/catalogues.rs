//! The breakages of a switch by netbench's own catalogues: servers, certificate chains and trust stores that are
//! valid, invalid, old and unusual. Results of real sites are stronger evidence where they show an effect; these cover
//! cases that no list of sites has.

use itertools::Itertools;
use netbench_model::{SwitchEffect, Weight, compat::Judgement};

use super::{
    evidence::Evidence, families::Member, finding::Severity, findings::Findings, question::Question,
};
use crate::{ChainsSummary, CompatSummary, RootsSummary, Switch, text::count};

/// Number of gained servers that are named.
const NAMED: usize = 20;

/// Records the deteriorations with the new stack, and returns a sentence on the result of each catalogue.
pub(super) fn predict(
    question: &mut Question,
    evidence: &Evidence<'_>,
    worse: &mut Findings,
) -> Vec<String> {
    let mut reasons = Vec::new();
    match evidence.found.compat.as_deref() {
        Some(compat) => reasons.extend(servers(question, compat, evidence, worse)),
        None => {
            let what = "a catalogue of valid, invalid, old and unusual servers, certificate chains and trust stores";
            question.missing.extend(evidence.missing("compat", what));
        }
    }
    if let Some(summary) = evidence.found.chains.as_deref() {
        reasons.extend(chains(question, summary, evidence, worse));
    }
    if let Some(summary) = evidence.found.roots.as_deref() {
        reasons.extend(stores(question, summary, evidence, worse));
    }
    if worse.count(evidence) {
        question.answer = question.answer.at_best_with_losses();
    }
    if !worse.is_empty() {
        reasons.push(evidence.client_use.rule().to_owned());
    }
    reasons
}

/// The name of the reason of a group of chains for which no reason is known.
const UNKNOWN: &str = "unknown";

fn severity(switch: &Switch, evidence: &Evidence<'_>) -> Severity {
    let effect = switch.effect.unwrap_or(SwitchEffect::LossOfReach);
    let weight = evidence.client_use.weight(effect, switch.standing);
    Severity::of(effect, weight)
}

fn servers(
    question: &mut Question,
    compat: &CompatSummary,
    evidence: &Evidence<'_>,
    all: &mut Findings,
) -> Option<String> {
    let (from, to) = (evidence.from, evidence.to);
    let (worse, reported) = (compat.worse(), compat.told_of_both());
    if reported == 0 {
        return None;
    }
    question.figure(
        format!("{} of {reported}", worse.len()),
        format!("test servers with which {to} does worse than {from}"),
    );
    let security = compat.gains(SwitchEffect::GainInSecurity);
    if !security.is_empty() {
        let names = security.iter().take(NAMED).map(|found| &found.case);
        question.gains.push(format!(
            "gain in security with {}: {}{}",
            count(security.len(), "test server", "test servers"),
            names.format(", "),
            if security.len() > NAMED { ", …" } else { "" }
        ));
    }
    let reach = compat.gains(SwitchEffect::GainOfReach).len();
    if reach > 0 {
        let servers = count(reach, "test server", "test servers");
        question.gains.push(format!("gain of reach with {servers}"));
    }
    if worse.is_empty() {
        return Some(format!(
            "With none of {} does {to} do worse than {from}.",
            count(reported, "test server", "test servers")
        ));
    }
    for found in &worse {
        let about = format!("Users of a server that {}.", found.about);
        let severity = match found.judgement {
            Judgement::Crashed | Judgement::Hung => Severity::Crashes,
            _ => severity(&found.switch, evidence),
        };
        let shown = [found.case.clone()];
        all.add((Member::Case, &found.case), &about, severity, shown);
    }
    Some(format!(
        "With {} of {} {to} does worse than {from}.",
        worse.len(),
        count(reported, "test server", "test servers")
    ))
}

fn chains(
    question: &mut Question,
    chains: &ChainsSummary,
    evidence: &Evidence<'_>,
    all: &mut Findings,
) -> Option<String> {
    let (from, to) = (evidence.from, evidence.to);
    let (worse, ended, reported) = (chains.worse(), chains.ended(), chains.told_of_both());
    if reported == 0 {
        return None;
    }
    let number = worse.iter().map(|group| group.cases.len()).sum::<usize>() + ended.len();
    question.figure(
        format!("{number} of {reported}"),
        format!("certificate chains with which {to} does worse than {from}"),
    );
    for effect in [SwitchEffect::GainInSecurity, SwitchEffect::GainOfReach] {
        let gained = chains.gains(effect);
        if gained > 0 {
            let chains = count(gained, "certificate chain", "certificate chains");
            question.gains.push(format!("{effect} with {chains}"));
        }
    }
    let of_all = count(reported, "certificate chain", "certificate chains");
    if number == 0 {
        return Some(format!("With none of {of_all} does {to} do worse."));
    }
    for chain in &ended {
        let (case, outcome) = (&chain.case, &chain.outcome);
        let shown = [format!("{case}: the verifier ends in a {outcome}")];
        all.add((Member::Chain, UNKNOWN), "", Severity::Crashes, shown);
    }
    for group in &worse {
        let reason = (Member::Chain, group.reason.as_deref().unwrap_or(UNKNOWN));
        let severity = severity(&group.switch, evidence);
        all.add(reason, &group.why, severity, group.cases.clone());
    }
    Some(format!(
        "With {number} of {of_all} {to} does worse than {from}."
    ))
}

fn stores(
    question: &mut Question,
    roots: &RootsSummary,
    evidence: &Evidence<'_>,
    all: &mut Findings,
) -> Option<String> {
    let (from, to) = (evidence.from, evidence.to);
    let changes = roots.changes(from, to);
    let least = changes.iter().min_by_key(|change| change.weight())?;
    let layouts = roots.matrix.cases.len();
    let source = least.source;
    question.figure(
        format!("{} of {layouts}", least.layouts()),
        format!("trust stores with which {to} ({source}) trusts otherwise than {from}, and worse"),
    );
    let worse = [
        (SwitchEffect::LossOfReach, "does not load any more"),
        (SwitchEffect::LossInSecurity, "loads without a warning"),
    ];
    let refused = least.sites(SwitchEffect::GainInSecurity);
    let refused: Vec<&str> = refused.map(|(site, _)| about(roots, site)).collect();
    if !refused.is_empty() {
        question.gains.push(format!(
            "gain in security with trust stores: refused are sites {}",
            refused.join(", ")
        ));
    }
    for (effect, what) in worse {
        for (site, layouts) in least.sites(effect) {
            for layout in layouts {
                let shown = [format!("{layout}: a site {} {what}", about(roots, site))];
                let severity = Severity::of(effect, Weight::Counted);
                all.add((Member::Store, layout), "", severity, shown);
            }
        }
    }
    let others = changes.iter().filter(|change| change.source != source);
    let others = others.filter(|change| change.weight() > least.weight());
    let others = others
        .map(|change| format!("{} for {}", change.layouts(), change.source))
        .join(", ");
    let others = match others.as_str() {
        "" => String::new(),
        others => format!(" ({others})"),
    };
    Some(format!(
        "With {} of {} it trusts less, or too much, where its roots are from {source}{others}.",
        least.layouts(),
        count(layouts, "trust store", "trust stores")
    ))
}

fn about<'a>(roots: &'a RootsSummary, site: &'a str) -> &'a str {
    let mut sites = roots.run.sites.iter();
    let found = sites.find(|found| found.name == site);
    found.map_or(site, |found| &found.about)
}
