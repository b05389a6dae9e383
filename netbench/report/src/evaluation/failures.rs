//! The sites whose connections failed, or could not be made.

use std::collections::{BTreeMap, BTreeSet};

use itertools::Itertools;
use netbench_model::{CertificateFault, Condition, FailureClass, StackName, Standing};

use crate::{ConnectSummary, FailureRow};

/// Returns the sites that failed with a stack at least once.
pub(super) fn failed_with<'a>(
    connections: &'a ConnectSummary,
    stack: &StackName,
) -> BTreeSet<&'a str> {
    let rows = connections.failures.iter();
    let of_stack = rows.filter(|row| row.stack == *stack);
    of_stack.map(|row| connections.site_of(&row.site)).collect()
}

/// Returns the sites without any connection, because their server does not support the requested settings, each
/// with the reason. A site for which only resumption is unsupported was still tried, unless the run has no other
/// connections; so was a swept site that was tried at any point.
pub(super) fn untried(connections: &ConnectSummary) -> BTreeMap<&str, &str> {
    let rows = connections.unsupported.iter();
    let minimal = minimal_condition(connections);
    let whole = rows.filter(|row| !row.condition.resumes() || Some(row.condition) == minimal);
    let by_name: BTreeMap<&str, &str> = whole
        .flat_map(|row| {
            row.sites
                .iter()
                .map(|site| (site.as_str(), row.reason.as_str()))
        })
        .collect();
    let points = connections.run.points.unwrap_or(1);
    let by_site = by_name
        .into_iter()
        .into_group_map_by(|(name, _)| connections.site_of(name));
    by_site
        .into_iter()
        .filter(|(_, names)| names.len() as u64 >= points)
        .map(|(site, names)| (site, names[0].1))
        .collect()
}

/// Returns the condition with the minimal demands on a server, of a run whose connections all resume a session.
fn minimal_condition(connections: &ConnectSummary) -> Option<Condition> {
    let conditions = connections.comparisons.iter().map(|it| it.condition);
    let (resuming, others): (Vec<_>, Vec<_>) = conditions.partition(|it| it.resumes());
    match others[..] {
        [] if resuming.contains(&Condition::Resumed) => Some(Condition::Resumed),
        [] => resuming.first().copied(),
        _ => None,
    }
}

/// Returns whether a stack refused a server, which the stack in use accepts, because an attacker could be it.
pub(super) fn protects(row: &FailureRow) -> bool {
    let known = CertificateFault::ALL.iter();
    let mut faults = known.filter(|fault| fault.name() == row.reason);
    row.class == FailureClass::Certificate
        && faults.any(|fault| Standing::of_disputed_fault(*fault) == Standing::Unsafe)
}

/// Returns the sites that the new stack refuses in each of its failures to protect the user, and that the stack in
/// use accepts, with the first reason.
pub(super) fn refused_to_protect<'a>(
    connections: &'a ConnectSummary,
    to: &StackName,
    before: &BTreeSet<&str>,
) -> BTreeMap<&'a str, &'a str> {
    let of_new = connections.failures.iter().filter(|row| row.stack == *to);
    let (protecting, failing): (Vec<_>, Vec<_>) = of_new.partition(|row| protects(row));
    let failing = failing.iter().map(|row| connections.site_of(&row.site));
    let failing: BTreeSet<&str> = failing.collect();
    let mut refused = BTreeMap::new();
    for row in protecting {
        let site = connections.site_of(&row.site);
        if !before.contains(site) && !failing.contains(site) {
            refused.entry(site).or_insert(row.reason.as_str());
        }
    }
    refused
}
