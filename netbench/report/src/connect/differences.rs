//! The differences between two stacks, in a line.

use itertools::Itertools;
use netbench_model::{Phase, StackName};
use netbench_stats::{SAME_MARGIN, Verdict};

use super::{Comparison, ConnectSummary};
use crate::{
    row::differs,
    text::{change, count},
};

/// Returns the difference of each stack from the first, a line for each.
pub(super) fn differences(summary: &ConnectSummary) -> Vec<String> {
    summary
        .switches()
        .map(|(first, other)| difference(summary, first, other))
        .collect()
}

/// Returns the phases in which two stacks differ, and the sites with other parameters.
fn difference(summary: &ConnectSummary, first: &StackName, other: &StackName) -> String {
    let comparisons = summary.comparisons.iter();
    let comparisons = comparisons
        .filter(|comparison| comparison.first == *first && comparison.other == *other)
        .collect_vec();
    let mut rows = comparisons.iter().flat_map(|comparison| &comparison.phases);
    let is_judged = rows.any(|row| row.change.interval.is_some());
    let phases = comparisons.iter().copied().filter_map(differing_phases);
    let phases = match phases.collect_vec() {
        none if none.is_empty() && is_judged => "no phase differs measurably".to_owned(),
        none if none.is_empty() => "too few connections to compare times".to_owned(),
        phases => phases.join("; "),
    };
    let left_out = summary.left_out.iter().filter(|row| row.other == *other);
    let sites = left_out.map(|row| row.site.as_str()).unique().count();
    let parameters = match summary.most_different(other) {
        Some(why) => format!(
            "other parameters with {} ({why})",
            count(sites, "site", "sites")
        ),
        None if comparisons
            .iter()
            .all(|comparison| comparison.phases.is_empty()) =>
        {
            "no site was reached by both".to_owned()
        }
        None => "the same parameters with every site that both reached".to_owned(),
    };
    format!("Where {other} differs from {first}: {phases}; {parameters}.")
}

/// Returns the phases of a comparison whose whole interval lies beyond the margin of `same`: `clean: client CPU -35 %`.
fn differing_phases(comparison: &Comparison) -> Option<String> {
    let rows = comparison.phases.iter().filter(|row| {
        let verdict = Verdict::beyond(row.change.interval, SAME_MARGIN);
        row.key.phase != Phase::Total && differs(verdict)
    });
    let rows = rows.map(|row| format!("{} {}", row.words(), change(row.change.ratio)));
    let rows = rows.collect_vec();
    (!rows.is_empty()).then(|| format!("{}: {}", comparison.condition, rows.join(", ")))
}
