//! The question whether the new stack supports the features that the web needs.

use itertools::Itertools;
use netbench_interop::WebLoss;
use netbench_model::{
    Losses, Outside, Quantity, SwitchEffect, Target,
    coverage::{Matrix, Support},
};

use super::{
    counts,
    evidence::Evidence,
    finding::Severity,
    findings::Findings,
    limits::{of_lost, of_web},
    losses::unnamed,
    question::{Answer, Question},
};
use crate::{
    bogo::{Lost, LostFeature},
    text::{count, missing_root, site_words, sites_of, some_of, whole},
};

/// Number of sites of one reason that are named.
const NAMED: usize = 5;

/// Answers the question for a report that names the cause of a missing trust root first.
pub(crate) fn answer(evidence: &Evidence<'_>) -> Question {
    let mut question = without_cause(evidence);
    name_cause(&mut question, evidence);
    question
}

/// Puts a missing trust root, with its remedy, before the rest of the answer.
pub(super) fn name_cause(question: &mut Question, evidence: &Evidence<'_>) {
    if let Some(cause) = evidence.losses().and_then(untrusted) {
        question.because = format!("{cause} {}", question.because);
    }
}

/// Answers the question. Other statements about it come between the cause and the answer.
pub(super) fn without_cause(evidence: &Evidence<'_>) -> Question {
    let (from, to) = (evidence.from, evidence.to);
    let mut question = Question::open(format!("Does {to} support what the sites need?"));
    let mut findings = Findings::default();
    match evidence.losses() {
        Some(losses) => {
            // The web decides where the user gave no sites.
            web(&mut question, evidence);
            sites(&mut question, losses, evidence, &mut findings);
            (question.answer, question.because) = verdict(losses, evidence);
            let accepts = evidence.of_false_accepts(losses.without_warning.len());
            question.answer = question.answer.worsened_by(accepts);
        }
        None => {
            let missing = evidence.missing("sites", "which sites would be lost");
            question.missing.extend(missing);
            let why = evidence.because_of("sites");
            question.because =
                format!("Whether {to} reaches the sites that {from} reaches was not tested{why}");
        }
    }
    match (evidence.found.matrix.as_ref(), evidence.older_features()) {
        (Some(matrix), _) => features(&mut question, matrix, evidence, &mut findings),
        (None, Some(coverage)) => counts::features(&mut question, coverage, &mut findings),
        (None, None) => {
            let what = "features, by BoringSSL's protocol tests";
            question.missing.extend(evidence.missing("features", what));
        }
    }
    question
        .findings
        .extend(findings.ranked(evidence.client_use));
    question
}

/// Returns the verdict. The user's own sites decide; if none were given, the web does: the built-in list represents
/// neither.
fn verdict(losses: &Losses, evidence: &Evidence<'_>) -> (Answer, String) {
    let (from, to) = (evidence.from, evidence.to);
    let [site, sites] = site_words(evidence.target);
    let reached = losses.counted();
    if reached == 0 {
        let because = match losses.scanned + losses.not_scanned {
            0 => format!("None of the {sites} was compared."),
            _ => format!("{from} itself can agree with none of the {sites}."),
        };
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
    let answer = answer_by_sites(losses, evidence);
    if !evidence.built_in_sites {
        return (answer, because);
    }
    let of_web = evidence
        .found
        .web
        .as_ref()
        .map(|loss| of_a_million(loss, evidence));
    let of_web = of_web.unwrap_or_default();
    (
        answer,
        format!("Your own sites were not given.{of_web} Of the built-in list, {because}"),
    )
}

/// Returns the answer by the lost sites: by the share of the user's own sites, or, if none were given, by the web,
/// for which the built-in list shows in addition whether any site is lost.
pub(super) fn answer_by_sites(losses: &Losses, evidence: &Evidence<'_>) -> Answer {
    let limit = evidence.thresholds.of(Quantity::LostSites);
    match losses.counted() {
        0 => Answer::Open,
        reached if !evidence.built_in_sites => of_lost(losses.lost.len() as u64, reached, limit),
        _ => {
            let web = evidence.found.web.as_ref();
            let answer = web.map_or(Answer::Open, |loss| of_web(loss, limit));
            match losses.lost.len() {
                0 => answer,
                _ => answer.at_best_with_losses(),
            }
        }
    }
}

/// Compares the expected loss among the sites of the web with the limit.
fn of_a_million(loss: &WebLoss, evidence: &Evidence<'_>) -> String {
    let to = evidence.to;
    let [expected, low, high] = lost_of_a_million(loss);
    let limit = evidence.thresholds.of(Quantity::LostSites);
    let beside = limit.no.map(|no| {
        let beside = match of_web(loss, limit) {
            Answer::Yes | Answer::WithLosses => "all below",
            Answer::No => "all above",
            Answer::Open => "which contains",
        };
        format!(", {beside} the limit of {no}")
    });
    format!(
        " Of a million sites of the web {to} is expected to lose {expected} ({low} to {high}{}).",
        beside.unwrap_or_default()
    )
}

/// Returns the expected, the smallest and the largest number of sites.
pub(super) fn lost_of_a_million(loss: &WebLoss) -> [String; 3] {
    [loss.per_million, loss.low, loss.high].map(whole)
}

fn sites(
    question: &mut Question,
    losses: &Losses,
    evidence: &Evidence<'_>,
    findings: &mut Findings,
) {
    let reached = losses.counted();
    let [_, sites] = site_words(evidence.target);
    let of = format!("{} of {reached}", losses.lost.len());
    if reached == 0 {
        question
            .missing
            .push("sites: none could be compared".to_owned());
    } else if evidence.built_in_sites {
        question.figure(
            of,
            format!("lost of the {reached} {sites} of the built-in list"),
        );
    } else {
        // The user's own sites decide.
        question.figure(of, format!("lost of your {reached} {sites}"));
        question.figures.rotate_right(1);
    }
    if evidence.built_in_sites {
        question.figure("open", "your sites: none were given");
    }
    for lost in &losses.lost {
        findings.site(lost, Severity::DoesNotLoad, reached, evidence.target);
    }
    for without_warning in &losses.without_warning {
        findings.site(
            without_warning,
            Severity::AcceptsForbidden,
            reached,
            evidence.target,
        );
    }
    question.missing.extend(outside(losses, evidence.target));
    if !losses.refused.is_empty() {
        question.gains.push(format!(
            "{} with {}: {}",
            SwitchEffect::GainInSecurity,
            sites_of(evidence.target, losses.refused.len()),
            some_of(NAMED, losses.refused.iter().map(|site| &site.site))
        ));
    }
    if !losses.gained.is_empty() {
        let label = format!("sites that only {} reaches", evidence.to);
        question.figure(losses.gained.len(), label);
    }
}

/// Returns the sites that are not counted, by the reason; those of evaluations by earlier versions have no names.
pub(super) fn outside(losses: &Losses, target: Target) -> Vec<String> {
    let [one, more] = site_words(target);
    let by_reason = losses.outside.iter().into_group_map_by(|site| site.because);
    let mut lines: Vec<String> = by_reason
        .into_iter()
        .sorted_by_key(|(because, _)| *because)
        .map(|(because, sites)| {
            let details = sites.iter().map(|site| match site.detail.as_str() {
                "" => site.site.clone(),
                detail => format!("{} ({detail})", site.site),
            });
            format!(
                "{} not counted, because {because}: {}",
                count(sites.len(), &format!("{one} is"), &format!("{more} are")),
                some_of(NAMED, details)
            )
        })
        .collect();
    let [neither, unknown] = unnamed(losses);
    if unknown > 0 {
        let sites = count(unknown, "site", "sites");
        lines.push(format!("{sites} of which the scan cannot tell"));
    }
    if neither > 0 {
        let sites = count(neither, "site", "sites");
        lines.push(format!("{sites} that neither can agree with"));
    }
    lines
}

/// Returns a sentence on a missing trust root, if half of the sites or more fail because of it.
fn untrusted(losses: &Losses) -> Option<String> {
    let sites = losses.outside.iter();
    let untrusted = sites.filter(|site| site.because == Outside::Untrusted);
    let all = losses.scanned + losses.not_scanned;
    missing_root(untrusted.count() as u64, all)
}

/// Adds the populations that the sites of the run do not represent: the user's own sites, and the web.
fn web(question: &mut Question, evidence: &Evidence<'_>) {
    if evidence.built_in_sites {
        let missing = "your sites: none were given, and the built-in list is no sample of them";
        question.missing.push(missing.to_owned());
    }
    let Some(loss) = evidence.found.web.as_ref() else {
        return;
    };
    let sources = match loss.sources.as_slice() {
        [] => String::new(),
        sources => format!("; shares from {}", sources.join(", ")),
    };
    let label = format!(
        "lost of a million sites of the web, by the population model {}; in brackets, the range that its sources \
         allow{sources}",
        loss.model
    );
    let [expected, low, high] = lost_of_a_million(loss);
    question.figure(format!("{expected} ({low} to {high})"), label);
}

/// Adds the losses that the matrix of features shows, by feature, version and role.
fn features(
    question: &mut Question,
    matrix: &Matrix,
    evidence: &Evidence<'_>,
    findings: &mut Findings,
) {
    let (from, to) = (evidence.from, evidence.to);
    let lost = Lost::of(matrix);
    question.figure(
        format!("{} of {}", lost.absent, lost.had),
        format!("features of {from} that {to} lacks, counted by role and version, in versions that both have"),
    );
    for versions in &lost.versions {
        for version in &versions.versions {
            findings.lacks(version.name(), versions.in_words());
        }
    }
    for feature in lost.with(Support::Absent) {
        findings.lacks(feature.feature, feature.in_words());
    }
    for feature in lost.with(Support::Partly) {
        findings.lacks(feature.feature, format!("in part: {}", feature.in_words()));
    }
    let untested = lost.with(Support::NotTestable);
    let untested = untested.map(LostFeature::in_words).collect_vec();
    if !untested.is_empty() {
        let features = untested.join("; ");
        let words =
            format!("features of {from} for which the shim of {to} has no way to ask: {features}");
        question.missing.push(words);
    }
}
