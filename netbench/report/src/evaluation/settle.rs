//! What the parts found of the same site, brought together before any question is answered.

use std::collections::HashSet;

use netbench_model::{EvaluationPlan, LostSite};

use super::Found;
use crate::{
    ConnectSummary,
    text::{sites_of, some_of},
};

/// Sites that are named in a warning.
const NAMED: usize = 5;

/// A site to which connections of both stacks ended well is not lost or gained, whatever the scan says: it
/// is counted with those that both can agree with. Gives what a reader must know of that.
pub(super) fn settle(found: &mut Found, plan: &EvaluationPlan) -> Vec<String> {
    let (Some(losses), Some(connections)) = (&mut found.losses, &found.connections) else {
        return Vec::new();
    };
    let reached = reached_by_both(connections, plan);
    let mut warnings = Vec::new();
    for (sites, only) in [
        (&mut losses.lost, &plan.from),
        (&mut losses.gained, &plan.to),
    ] {
        let works = |site: &mut LostSite| reached.contains(site.site.as_str());
        let working: Vec<LostSite> = sites.extract_if(.., works).collect();
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

/// Sites on which a connection of each stack ended well in the same round.
fn reached_by_both<'a>(connections: &'a ConnectSummary, plan: &EvaluationPlan) -> HashSet<&'a str> {
    let comparisons = connections.comparisons.iter();
    let compared = comparisons
        .filter(|comparison| comparison.first == plan.from && comparison.other == plan.to)
        .flat_map(|comparison| &comparison.sites.rows)
        .map(|row| row.site.as_str());
    let left_out = connections.left_out.iter();
    let left_out = left_out
        .filter(|row| row.other == plan.to)
        .map(|row| row.site.as_str());
    compared.chain(left_out).collect()
}
