//! Does the new stack support what the web needs?

use std::collections::BTreeMap;

use itertools::Itertools;
use netbench_model::{
    Losses, Target,
    coverage::{Matrix, Support},
};

use super::{Answer, Evidence, Question, of_lost};
use crate::{
    bogo::{Lost, LostFeature, LostVersions},
    text::{count, sites_of, some_of},
};

/// Sites of one reason that are named.
const NAMED: usize = 5;

pub(crate) fn answer(evidence: &Evidence<'_>) -> Question {
    let (from, to) = (evidence.from, evidence.to);
    let mut question = Question::open(format!("Does {to} support what the sites need?"));
    match evidence.losses {
        Some(losses) => {
            sites(&mut question, losses, evidence);
            web(&mut question, evidence);
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
    match evidence.matrix {
        Some(matrix) => features(&mut question, matrix, evidence),
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
        let lost = sites_of(evidence.target, sites.len());
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

/// The populations that the sites of the run do not speak for: the user's own sites, and the web.
fn web(question: &mut Question, evidence: &Evidence<'_>) {
    if evidence.built_in_sites {
        let missing = "your sites: none were given, and the built-in list says nothing about them";
        question.missing.push(missing.to_owned());
    }
    let Some(loss) = evidence.web else {
        return;
    };
    let sources = match loss.sources.as_slice() {
        [] => String::new(),
        sources => format!("; shares from {}", sources.join(", ")),
    };
    let label = format!(
        "sites in a million of the web lost, by the population model {}; in brackets, as far apart as its sources \
         are{sources}",
        loss.model
    );
    let [expected, low, high] =
        [loss.per_million, loss.low, loss.high].map(|sites| sites.round() as u64);
    question.figure(format!("{expected} ({low} to {high})"), label);
}

/// What the matrix of features says of the switch: what is lost, by feature, version and role.
fn features(question: &mut Question, matrix: &Matrix, evidence: &Evidence<'_>) {
    let (from, to) = (evidence.from, evidence.to);
    let lost = Lost::of(matrix);
    question.figure(
        format!("{} of {}", lost.absent, lost.had),
        format!("features of {from} that {to} lacks, counted by role and version, in versions that both have"),
    );
    let versions = lost.versions.iter().map(LostVersions::in_words).join("; ");
    if !versions.is_empty() {
        let gone =
            format!("versions of {from} that {to} lacks, with all features over them: {versions}");
        question.breaks.push(gone);
    }
    let named = |now| lost.with(now).map(LostFeature::in_words).collect_vec();
    let absent = named(Support::Absent);
    if !absent.is_empty() {
        let features = absent.join("; ");
        question
            .breaks
            .push(format!("features of {from} that {to} lacks: {features}"));
    }
    let partly = named(Support::Partly);
    if !partly.is_empty() {
        let features = partly.join("; ");
        let words = format!("whole with {from}, and in part with {to}: {features}");
        question.breaks.push(words);
    }
    let untested = named(Support::NotTestable);
    if !untested.is_empty() {
        let features = untested.join("; ");
        let words =
            format!("features of {from} for which the shim of {to} has no way to ask: {features}");
        question.missing.push(words);
    }
}
