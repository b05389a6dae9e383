use std::collections::{BTreeMap, BTreeSet};

use netbench_model::{Condition, Sample, StackName};
use netbench_stats::bimodal;

use super::HeapRow;

/// How many round trips apart two heaps may be to be one round trip apart.
const ABOUT_ONE: std::ops::RangeInclusive<f64> = 0.75..=1.25;

/// Every stack, site and condition whose totals come in two heaps about a round trip apart.
pub(super) fn heaps(
    measured: &[&Sample],
    sides: &[(&StackName, &StackName)],
    rtts: &BTreeMap<String, u64>,
) -> Vec<HeapRow> {
    let stacks: BTreeSet<&StackName> = sides.iter().flat_map(|(a, b)| [*a, *b]).collect();
    let mut totals: BTreeMap<(&str, Condition, &StackName), Vec<f64>> = BTreeMap::new();
    for sample in measured.iter().filter(|s| stacks.contains(&s.stack)) {
        if let Some(figures) = sample.outcome.ok() {
            totals
                .entry((&sample.site, sample.condition, &sample.stack))
                .or_default()
                .push(figures.phases.total_ns as f64);
        }
    }
    let row = |((site, condition, stack), totals): ((&str, Condition, &StackName), Vec<f64>)| {
        let rtt_ns = rtts.get(site).copied().filter(|rtt_ns| *rtt_ns > 0)?;
        let modes = bimodal(&totals)?;
        let round_trips = (modes.upper - modes.lower) / rtt_ns as f64;
        ABOUT_ONE.contains(&round_trips).then(|| HeapRow {
            site: site.to_owned(),
            stack: stack.clone(),
            condition,
            lower_ns: modes.lower,
            upper_ns: modes.upper,
            round_trips,
            slower: modes.upper_count,
            connections: modes.count,
        })
    };
    totals.into_iter().filter_map(row).collect()
}
