//! Reconciles the parts' findings about the same site before any question is answered.

use std::collections::{BTreeSet, HashSet};

use itertools::Itertools;
use netbench_model::{EvaluationPlan, Losses, LostSite, Outside, OutsideSite, scan::LossReason};

use super::{
    evidence::Found,
    failures::{failed_with, refused_to_protect, untried},
    losses::unnamed,
};
use crate::{
    ConnectSummary,
    text::{sites_of, some_of},
};

/// Number of sites that are named in a warning.
const NAMED: usize = 5;

/// Moves each site that connections of both stacks reached from the four lists of differences to the sites that both
/// can agree with, regardless of the scan. Returns the warnings that a reader must know.
pub(super) fn settle(found: &mut Found, plan: &EvaluationPlan) -> Vec<String> {
    let (Some(losses), Some(connections)) = (&mut found.losses, &found.connections) else {
        return Vec::new();
    };
    let reached = reached_by_both(connections, plan);
    let mut warnings = Vec::new();
    for (sites, only) in [
        (&mut losses.lost, &plan.from),
        (&mut losses.gained, &plan.to),
        (&mut losses.refused, &plan.from),
        (&mut losses.without_warning, &plan.to),
    ] {
        let working = sites.extract_if(.., |site| reached.contains(site.site.as_str()));
        let working: Vec<LostSite> = working.collect();
        if working.is_empty() {
            continue;
        }
        losses.both += working.len() as u64;
        warnings.push(format!(
            "By the scan only {only} can agree with {}, but connections of both were finished: {}.",
            sites_of(plan.target, working.len()),
            some_of(NAMED, working.iter().map(|site| &site.site))
        ));
    }
    leave_out(losses, connections, &reached, plan);
    let profiles = (losses.client_profile, connections.run.client_profile);
    if let (Some(scan), Some(connect)) = profiles
        && scan != connect
    {
        warnings.push(format!(
            "Clients were not set up alike: sites were scanned with the client profile {}, and connections made with \
             {}.",
            scan.name(),
            connect.name()
        ));
    }
    warnings
}

/// Removes sites from the counted ones if connections show that they do not affect the switch, and adds those that
/// the scan cannot judge and connections can.
fn leave_out(
    losses: &mut Losses,
    connections: &ConnectSummary,
    reached: &HashSet<&str>,
    plan: &EvaluationPlan,
) {
    let before = failed_with(connections, &plan.from);
    let after = failed_with(connections, &plan.to);
    let untried = untried(connections);
    let reported = losses.outside.extract_if(.., |site| {
        let name = site.site.as_str();
        let works_now = reached.contains(name);
        let fails_now = after.contains(name) && !before.contains(name);
        !untried.contains_key(name) && (works_now || fails_now)
    });
    let reported: Vec<OutsideSite> = reported.collect();
    for site in reported {
        if site.because == Outside::Unknown {
            losses.not_scanned = losses.not_scanned.saturating_sub(1);
            losses.scanned += 1;
        } else {
            losses.neither = losses.neither.saturating_sub(1);
        }
        if reached.contains(site.site.as_str()) {
            losses.both += 1;
            continue;
        }
        let failures = connections.failures.iter();
        let mut failures = failures.filter(|row| row.site == site.site && row.stack == plan.to);
        let (reason, detail) = failures.next().map_or_else(Default::default, |row| {
            (row.reason.clone(), row.detail.clone())
        });
        losses.lost.push(LostSite {
            site: site.site,
            reason,
            detail,
            confirmed: Some(true),
        });
    }
    protect(losses, connections, &before, plan);
    let known = listed(losses);
    let failed = before.iter().map(|site| (*site, Outside::FailedBefore, ""));
    let not_tried = untried.iter();
    let not_tried = not_tried.map(|(site, why)| (*site, Outside::NotTried, *why));
    let more = not_tried
        .chain(failed)
        .unique_by(|(site, ..)| *site)
        .filter(|(site, ..)| !known.contains(site))
        .map(|(site, because, detail)| OutsideSite {
            site: site.to_owned(),
            because,
            detail: detail.to_owned(),
        })
        .collect_vec();
    // Sites that were left out of the scan's list have no names: a site that no connection of either stack
    // reached is one of them, and is not among those that both can agree with.
    let [mut neither, mut unknown] = unnamed(losses);
    for mut site in more {
        let name = site.site.as_str();
        let fails_with_both = after.contains(name) && before.contains(name);
        let is_neither = site.because != Outside::NotTried;
        let is_unnamed = !is_neither || fails_with_both && !reached.contains(name);
        if is_unnamed && is_neither && neither > 0 {
            neither -= 1;
            site.because = Outside::Neither;
        } else if is_unnamed && unknown > 0 {
            unknown -= 1;
            site.because = Outside::Unknown;
        } else {
            losses.both = losses.both.saturating_sub(1);
        }
        losses.outside.push(site);
    }
}

/// Removes those sites from the ones that both can agree with whose certificates the new stack refused in its
/// connections to protect the user: the scan does not test the stacks' verifiers.
fn protect(
    losses: &mut Losses,
    connections: &ConnectSummary,
    before: &BTreeSet<&str>,
    plan: &EvaluationPlan,
) {
    let refused = refused_to_protect(connections, &plan.to, before);
    let known = listed(losses);
    let new = refused
        .iter()
        .filter(|(site, _)| !known.contains(*site))
        .map(|(site, fault)| LostSite {
            site: (*site).to_owned(),
            reason: LossReason::Certificate.name().to_owned(),
            detail: format!("refused in a connection: {fault}"),
            confirmed: Some(true),
        })
        .collect_vec();
    losses.both = losses.both.saturating_sub(new.len() as u64);
    losses.refused.extend(new);
}

fn listed(losses: &Losses) -> HashSet<&str> {
    let lists = [
        &losses.lost,
        &losses.gained,
        &losses.refused,
        &losses.without_warning,
    ];
    let sites = lists.into_iter().flatten().map(|site| &*site.site);
    let outside = losses.outside.iter().map(|site| &*site.site);
    sites.chain(outside).collect()
}

/// Returns the sites on which a connection of each stack succeeded in the same round.
fn reached_by_both<'a>(connections: &'a ConnectSummary, plan: &EvaluationPlan) -> HashSet<&'a str> {
    let comparisons = connections.comparisons.iter();
    let compared = comparisons
        .filter(|comparison| comparison.first == plan.from && comparison.other == plan.to)
        .flat_map(|comparison| &comparison.sites.rows)
        .map(|row| row.key.site.as_str());
    let left_out = connections.left_out.iter();
    let left_out = left_out
        .filter(|row| row.other == plan.to)
        .map(|row| row.site.as_str());
    compared.chain(left_out).collect()
}
