//! The time that Encrypted ClientHello costs, beside ordinary hellos of the same stack to equal sites.

use std::collections::{BTreeMap, HashMap};

use netbench_model::{
    Condition, ConnectManifest, EchPolicy, LabProfile, Measured, Sample, Site, StackName,
};
use netbench_stats::{RoundsDifference, difference_of_rounds};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::shares::{round_trips, rtt, rtts};
use crate::{
    document::{Item, Table},
    text::interval_of_difference,
};

/// One stack's cost, over the sites of one round-trip time with one outcome of Encrypted ClientHello.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EchRow {
    /// The condition.
    pub condition: Condition,
    /// The stack.
    pub stack: StackName,
    /// The outcome, on which both sides agree.
    #[schemars(extend("x-key" = "item"))]
    pub outcome: EchPolicy,
    /// The emulated round-trip time; 0 over loopback, which has none.
    #[schemars(extend("x-key" = "item"))]
    pub rtt_ns: u64,
    /// Number of pairs of a connection with this outcome and one with an ordinary hello, in one round, to sites that differ only in
    /// that.
    pub pairs: u64,
    /// The total time with this outcome less that with an ordinary hello. The total contains the rejected connection.
    pub cost: RoundsDifference,
    /// The same in round trips; absent over loopback.
    pub cost_round_trips: Option<f64>,
}

/// Returns the costs of each stack; empty unless the run has sites with `ech=outer-only` and others that differ only in that.
pub(super) fn ech(manifest: &ConnectManifest, measured: &[&Sample]) -> Vec<EchRow> {
    let rtts = rtts(manifest, measured);
    let beside = ordinary(&manifest.plan.sites);
    let totals: HashMap<_, &Measured> = measured
        .iter()
        .filter_map(|sample| Some((sample.key(), sample.outcome.ok()?)))
        .collect();
    let mut costs: BTreeMap<_, Vec<f64>> = BTreeMap::new();
    for sample in measured {
        let (condition, round, site, stack) = sample.key();
        let Some((outcome, ordinary)) = beside.get(site) else {
            continue;
        };
        let ordinary = totals.get(&(condition, round, ordinary.as_str(), stack));
        if let (Some(own), Some(ordinary)) = (sample.outcome.ok(), ordinary) {
            let rtt_ns = rtts.get(site).copied().unwrap_or(0);
            let cost_ns = own.phases.total_ns as f64 - ordinary.phases.total_ns as f64;
            let group = costs.entry((condition, stack, *outcome, rtt_ns));
            group.or_default().push(cost_ns);
        }
    }
    let rows = costs.into_iter();
    rows.filter_map(|((condition, stack, outcome, rtt_ns), costs)| {
        let cost = difference_of_rounds(&costs)?;
        Some(EchRow {
            condition,
            stack: stack.clone(),
            outcome,
            rtt_ns,
            pairs: costs.len() as u64,
            cost,
            cost_round_trips: (rtt_ns > 0).then(|| cost.middle_ns / rtt_ns as f64),
        })
    })
    .collect()
}

/// Returns the outcome at each site with Encrypted ClientHello, and the name of a site that differs only in that its clients send
/// ordinary hellos.
fn ordinary(sites: &[Site]) -> HashMap<String, (EchPolicy, String)> {
    let with = sites.iter().filter_map(|site| Some((site, site.lab.ech?)));
    with.filter(|(_, outcome)| *outcome != EchPolicy::OuterOnly)
        .filter_map(|(site, outcome)| {
            let wanted = LabProfile {
                ech: Some(EchPolicy::OuterOnly),
                ..LabProfile::clone(&site.lab)
            };
            let other = sites.iter().find(|other| *other.lab == wanted)?;
            Some((site.name(), (outcome, other.name())))
        })
        .collect()
}

/// Builds the section's items; empty without rows.
pub(super) fn items(rows: &[EchRow]) -> Vec<Item> {
    Table::of(rows)
        .caption("Encrypted ClientHello")
        .text("condition", 2, |row| row.condition)
        .text("stack", 0, |row| &row.stack)
        .text("ECH", 0, |row| row.outcome)
        .col("RTT", 0, |row| rtt(row.rtt_ns))
        .difference("cost", 0, |row| row.cost.middle_ns)
        .text("interval", 1, |row| interval_of_difference(&row.cost))
        .col("cost, round trips", 0, |row| {
            round_trips(row.cost_round_trips)
        })
        .count("pairs", 2, |row| row.pairs)
        .explained(
            "Encrypted ClientHello",
            "The total with this outcome less that with an ordinary hello, of the same stack in the same round to sites that differ \
             only in that; the interval is of the signed-rank test over such pairs. After a rejection the client connects again, and the total contains both \
             connections.",
        )
}
