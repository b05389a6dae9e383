//! The time that early data save, beside resumed connections of the same stack to the same sites.

use std::collections::{BTreeMap, HashMap};

use netbench_model::{
    Condition, ConnectManifest, EarlyDataStatus, Measured, ReplayStatus, Sample, SampleKey,
    StackName,
};
use netbench_stats::median;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::shares::{round_trips, rtt, rtts};
use crate::{
    cell::Cell,
    document::{Item, Table},
};

/// One stack's saving, over the sites of one round-trip time whose servers treated early data alike.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EarlyDataRow {
    /// The stack.
    pub stack: StackName,
    /// The outcome of early data, on which both sides agree.
    #[schemars(extend("x-key" = "item"))]
    pub outcome: EarlyDataStatus,
    /// The emulated round-trip time; 0 over loopback, which has none.
    #[schemars(extend("x-key" = "item"))]
    pub rtt_ns: u64,
    /// Number of requests that were sent again on another connection after they had been accepted.
    #[serde(default)]
    pub replays: u64,
    /// Number of those that the server accepted again.
    #[serde(default)]
    pub replays_accepted: u64,
    /// Number of pairs of a resumed connection and one with early data, to one site in one round.
    pub pairs: u64,
    /// The median, over pairs, of the total time of the resumed connection less that with early data.
    pub saved_ns: f64,
    /// The same in round trips; absent over loopback.
    pub saved_round_trips: Option<f64>,
}

/// Returns the savings of each stack; empty unless the run has both conditions.
pub(super) fn early_data(manifest: &ConnectManifest, measured: &[&Sample]) -> Vec<EarlyDataRow> {
    let rtts = rtts(manifest, measured);
    let resumed: HashMap<SampleKey<'_>, &Measured> = measured
        .iter()
        .filter(|sample| sample.condition == Condition::Resumed)
        .filter_map(|sample| Some((sample.key(), sample.outcome.ok()?)))
        .collect();
    let mut savings: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for sample in measured
        .iter()
        .filter(|sample| sample.condition == Condition::EarlyData)
    {
        let (_, round, site, stack) = sample.key();
        let beside = resumed.get(&(Condition::Resumed, round, site, stack));
        let (Some(early), Some(beside)) = (sample.outcome.ok(), beside) else {
            continue;
        };
        if let Some(outcome) = early.client.early_data {
            let rtt_ns = rtts.get(site).copied().unwrap_or(0);
            let saved_ns = beside.phases.total_ns as f64 - early.phases.total_ns as f64;
            let group = savings.entry((stack, outcome, rtt_ns)).or_default();
            group.push((saved_ns, sample.replay));
        }
    }
    let rows = savings.into_iter();
    rows.filter_map(|((stack, outcome, rtt_ns), pairs)| {
        let (saved, replays): (Vec<f64>, Vec<_>) = pairs.into_iter().unzip();
        let saved_ns = median(&saved)?;
        let replays = replays.iter().flatten();
        let accepted = replays.clone().filter(|it| **it == ReplayStatus::Accepted);
        Some(EarlyDataRow {
            stack: stack.clone(),
            outcome,
            rtt_ns,
            replays: replays.clone().count() as u64,
            replays_accepted: accepted.count() as u64,
            pairs: saved.len() as u64,
            saved_ns,
            saved_round_trips: (rtt_ns > 0).then(|| saved_ns / rtt_ns as f64),
        })
    })
    .collect()
}

/// Builds the section's items; empty without rows.
pub(super) fn items(rows: &[EarlyDataRow]) -> Vec<Item> {
    Table::of(rows)
        .caption("early data")
        .text("stack", 0, |row| &row.stack)
        .text("early data", 0, |row| row.outcome)
        .col("RTT", 0, |row| rtt(row.rtt_ns))
        .difference("saved", 0, |row| row.saved_ns)
        .col("saved, round trips", 0, |row| {
            round_trips(row.saved_round_trips)
        })
        .col("sent again", 1, |row| match row.replays {
            0 => Cell::Missing,
            replays => Cell::count(replays),
        })
        .col("accepted again", 1, |row| match row.replays {
            0 => Cell::Missing,
            _ => Cell::count(row.replays_accepted),
        })
        .count("pairs", 2, |row| row.pairs)
        .explained(
            "Early data",
            "The total of a resumed connection less that of one with its request in early data, of the same stack to the same \
             site in the same round; medians over such pairs. An accepted request saves the round trip of the handshake; a \
             rejected one is sent again and should save nothing; with a HelloRetryRequest it should cost a round trip. The first flight of each accepted request is sent again on another \
             connection, byte for byte: a server that accepts it again acts twice on one request (RFC 8446 section 8).",
        )
}
