//! The question whether the new stack works without glitches.

use std::collections::{BTreeMap, BTreeSet};

use itertools::Itertools;
use netbench_model::{Quantity, SwitchEffect, compat::Judgement, coverage::Defects};

use super::{
    catalogues, counts,
    evidence::Evidence,
    failures::{failed_with, protects, refused_to_protect, untried},
    findings::Findings,
    limits::of_lost,
    losses::contradicted,
    question::{Answer, Question},
    supports::answer_by_sites,
};
use crate::{
    ConnectSummary,
    text::{count, named_site, sites_of, some_of, whole},
};

/// Number of failing sites that are named.
const NAMED: usize = 20;

pub(crate) fn answer(evidence: &Evidence<'_>) -> Question {
    let to = evidence.to;
    let mut question = Question::open(match evidence.parts {
        Some(_) => format!("Does {to} work without glitches?"),
        None => format!("Do connections of {to} work without failures?"),
    });
    let mut reasons = Vec::new();
    match evidence.connections {
        Some(connections) if connections.run.samples > 0 => {
            // In an evaluation, the first question names the cause.
            if evidence.parts.is_none() {
                reasons.extend(connections.missing_root());
            }
            reasons.push(self::connections(&mut question, connections, evidence));
        }
        _ => {
            let why = evidence.because_of("connections");
            reasons.push(format!("No connections were made with {to}{why}"));
            let missing = evidence.missing("connections", "real connections");
            question.missing.extend(missing);
        }
    }
    if let Some(losses) = evidence.losses() {
        if losses.confirmed > 0 {
            let label = "handshakes that went as the scan predicted";
            question.figure(losses.confirmed, label);
        }
        if !losses.contradicted.is_empty() {
            question.answer = question.answer.at_best_with_losses();
            question
                .breaks
                .extend(contradicted(losses, evidence.target));
        }
    }
    let mut findings = Findings::default();
    // The figures of the catalogues come first if they alone show changes for the worse.
    let of_sites = question.figures.len();
    reasons.extend(catalogues::predict(&mut question, evidence, &mut findings));
    if question.answer == Answer::WithLosses && question.breaks.is_empty() {
        question.figures.rotate_left(of_sites);
    }
    let worse = match (evidence.found.defects.as_ref(), evidence.older_features()) {
        (Some(defects), _) => self::defects(&mut question, defects, &mut findings),
        (None, Some(coverage)) => counts::defects(&mut question, coverage, &mut findings),
        (None, None) => {
            let what = "defects, by BoringSSL's protocol tests";
            question.missing.extend(evidence.missing("features", what));
            None
        }
    };
    if let Some(reason) = worse {
        question.answer = question.answer.at_best_with_losses();
        reasons.push(reason);
    }
    let accepts = findings.false_accepts();
    if evidence.of_false_accepts(accepts) == Answer::No {
        question.answer = Answer::No;
        let limit = evidence.thresholds.of(Quantity::FalseAccepts);
        reasons.push(format!(
            "{to} wrongly accepts {accepts}: the limit of false accepts is {limit}."
        ));
    }
    question.because = reasons.join(" ");
    question.findings = findings.ranked(evidence.client_use);
    question
}

/// Answers by real connections, and returns the reason. A site that the scan reports as lost has failed, regardless
/// of other findings about it.
fn connections(
    question: &mut Question,
    connections: &ConnectSummary,
    evidence: &Evidence<'_>,
) -> String {
    let (from, to) = (evidence.from, evidence.to);
    let lost: BTreeSet<&str> = match evidence.losses() {
        Some(losses) => losses.lost.iter().map(|site| site.site.as_str()).collect(),
        None => BTreeSet::new(),
    };
    let mut before = failed_with(connections, from);
    before.retain(|site| !lost.contains(site));
    let failing = failing(evidence);
    let failed = failing.len() + lost.len();
    let refused = refused_to_protect(connections, to, &before);
    // A site that fails with both stacks does not affect the switch, nor does a site that its server could not
    // serve.
    let untried = untried(connections);
    let connected = connections.run.sites.saturating_sub(untried.len() as u64);
    let of = match evidence.losses() {
        Some(losses) => losses.counted(),
        None => connected.saturating_sub((before.len() + refused.len()) as u64),
    };
    let compared = match of {
        0 => "none compared".to_owned(),
        of => format!("{failed} of {of}"),
    };
    question.figure(
        compared,
        format!("sites that fail with {to} and not with {from}"),
    );
    if evidence.losses().is_some() && of > connected {
        let others = count(of - connected, "site", "sites");
        let missing = format!("connections to {others} of the {of}: they were scanned alone");
        question.missing.push(missing);
    }
    let limit = evidence.thresholds.of(Quantity::LostSites);
    question.answer = match of {
        0 => Answer::Open,
        // The built-in list is no sample of the web, whose share of lost sites is judged by the first question.
        _ if evidence.built_in_sites => of_lost(failing.len() as u64, of, limit),
        _ => of_lost(failed as u64, of, limit),
    };
    if let Some(losses) = evidence.losses().filter(|_| !lost.is_empty()) {
        let by_sites = answer_by_sites(losses, evidence);
        question.answer = question.answer.at_best_with_losses().worse_of(by_sites);
        let sites = count(lost.len(), "site", "sites");
        let which = format!("{sites} that {to} cannot agree with: named under the first question");
        question.breaks.push(which);
    }
    let named = failing.iter().take(NAMED);
    let named = named.map(|(site, why)| format!("{}: {why}", named_site(evidence.target, site)));
    question.breaks.extend(named);
    if failing.len() > NAMED {
        let more = count(failing.len() - NAMED, "more site", "more sites");
        question.breaks.push(format!("and {more}"));
    }
    let not_made: u64 = connections.unsupported.iter().map(|row| row.samples).sum();
    let samples = connections.run.samples.saturating_sub(not_made);
    let unfinished: u64 = connections.failures.iter().map(|row| row.failed).sum();
    let over = connections.over();
    let to_sites = format!("to {}{over}", count(connected, "site", "sites"));
    let connections = count(samples, "connection", "connections");
    let made = match samples.saturating_sub(unfinished) {
        _ if samples == 0 => format!("No connection{over} was made: "),
        _ if unfinished == 0 => format!("{connections} {to_sites}, all finished: "),
        finished => format!(
            "{} of {connections} {to_sites} were finished: ",
            whole(finished)
        ),
    };
    let new = match (lost.len(), failing.len()) {
        (0, 0) => format!("none failed with {to} that works with {from}."),
        (0, failing) => format!(
            "{} failed with {to} where {from} has no failure.",
            count(failing, "site", "sites")
        ),
        (lost, 0) => format!(
            "{to} cannot agree with {} that {from} can, and no other failed with {to} alone.",
            count(lost, "site", "sites")
        ),
        (lost, failing) => format!(
            "{to} cannot agree with {} that {from} can, and {} failed with {to} where {from} has no failure.",
            count(lost, "site", "sites"),
            count(failing, "other", "others")
        ),
    };
    let old = match before.len() {
        0 => String::new(),
        failed => format!(
            " {} failed with {from} already, and {} not counted.",
            count(failed, "site", "sites"),
            if failed == 1 { "is" } else { "are" }
        ),
    };
    let protected = match refused.len() {
        0 => String::new(),
        refused => format!(
            " {to} refuses the certificates of {} that {from} accepts, to protect the user: no failure.",
            count(refused, "site", "sites")
        ),
    };
    if !refused.is_empty() {
        let sites = refused
            .iter()
            .map(|(site, why)| format!("{site} ({why})"))
            .collect_vec();
        question.gains.push(format!(
            "{} with {}: {}",
            SwitchEffect::GainInSecurity,
            sites_of(evidence.target, sites.len()),
            some_of(NAMED, sites)
        ));
    }
    let not_tried = match untried.iter().next() {
        None => String::new(),
        Some((_, why)) if untried.len() == 1 => format!(" One site was not tried: {why}."),
        Some((_, why)) => format!(
            " {} sites were not tried, the first because {why}.",
            untried.len()
        ),
    };
    format!("{made}{new}{old}{protected}{not_tried}")
}

/// Returns the sites that failed with the new stack alone and that the scan does not report as lost, with the first
/// reason. A site that the stack refuses to protect the user does not count as failed, whether the scan or the
/// connection shows it.
pub(super) fn failing<'a>(evidence: &Evidence<'a>) -> BTreeMap<&'a str, &'a str> {
    let Some(connections) = evidence.connections else {
        return BTreeMap::new();
    };
    let before = failed_with(connections, evidence.from);
    let losses = evidence.losses().into_iter();
    let scanned = losses.flat_map(|losses| losses.lost.iter().chain(&losses.refused));
    let scanned: BTreeSet<&str> = scanned.map(|site| site.site.as_str()).collect();
    let mut failing = BTreeMap::new();
    let rows = connections.failures.iter();
    for row in rows.filter(|row| row.stack == *evidence.to && !protects(row)) {
        let site = connections.site_of(&row.site);
        if !before.contains(site) && !scanned.contains(site) {
            failing.entry(site).or_insert(row.reason.as_str());
        }
    }
    failing
}

/// Adds the defects by the protocol tests that both run, counted by causes, or by tests in a record without causes;
/// returns a sentence if the new stack has more of them.
fn defects(question: &mut Question, defects: &Defects, findings: &mut Findings) -> Option<String> {
    let [before, after, ..] = defects.among_those[..] else {
        return None;
    };
    let run = whole(defects.run_by_all);
    let causes = match defects.causes_among_those[..] {
        [before, after, ..] => Some([before, after]),
        _ => None,
    };
    match causes {
        Some([causes_before, causes]) => question.figure(
            format!("{causes} in {after} of {run} tests (before: {causes_before} in {before})"),
            "defects by their causes, in protocol tests that both run",
        ),
        None => question.figure(
            format!("{after} of {run} (before: {before})"),
            "protocol tests in which it does what it must not, of those that both run",
        ),
    }
    let [crashed_before, crashed] = [0, 1].map(|stack| {
        let tests = defects.tests.iter();
        tests
            .filter(|test| test.judgements.get(stack) == Some(&Judgement::Crashed))
            .map(|test| test.test.as_str())
            .collect_vec()
    });
    for test in crashed.iter().filter(|test| !crashed_before.contains(test)) {
        findings.crash(test);
    }
    let [counted_before, counted] = causes.unwrap_or([before, after]);
    let is_worse = counted > counted_before || crashed.len() > crashed_before.len();
    let what = match causes {
        Some([causes_before, causes]) => format!(
            "in {run} that both run it has {} in {}, against {causes_before} in {before}",
            count(causes, "defect", "defects"),
            count(after, "test", "tests")
        ),
        None => {
            format!("of {run} that both run it has defects in {after}, against {before}")
        }
    };
    is_worse.then(|| {
        format!(
            "By BoringSSL's tests it is the worse of the two: {what}, and it crashes in {}, against {}.",
            crashed.len(),
            crashed_before.len()
        )
    })
}
