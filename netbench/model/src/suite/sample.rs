use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Failure, Held, Measure, Negotiated, Record, ReferenceFigures, Scenario, StackName, SystemCalls,
};

/// One trial: one scenario on one stack in one round, in a separate process. One line of `samples.jsonl`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SuiteSample {
    /// [`crate::SCHEMA_VERSION`] of the writer.
    pub schema: u32,
    /// The scenario's name.
    pub name: String,
    /// The scenario.
    pub scenario: Scenario,
    /// The stack.
    pub stack: StackName,
    /// The round, from 0. Each round has separate processes.
    pub round: u32,
    /// Milliseconds since the Unix epoch at the start.
    pub started_unix_ms: u64,
    /// The outcome of the trial.
    pub outcome: SuiteOutcome,
}

impl Record for SuiteSample {
    fn schema(&self) -> u32 {
        self.schema
    }

    fn fault(&self) -> Option<&'static str> {
        let measured = self.outcome.ok()?;
        let mut walls = measured.wall.values();
        if walls.any(|wall| wall.count > 0 && wall.sum_ns == 0) {
            return Some("sum_ns is 0 of operations that were timed");
        }
        if measured.slices.iter().any(SliceFigures::is_impossible) {
            return Some("a turn has a time that is not above 0");
        }
        let held = measured.held.as_ref()?;
        (held.peak_bytes == 0).then_some("peak_bytes is 0 of a process that held sessions")
    }
}

/// The outcome of a trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "outcome", rename_all = "lowercase")]
pub enum SuiteOutcome {
    /// The trial was measured.
    Ok(Box<SuiteMeasured>),
    /// An error, with its class.
    Failed(Failure),
    /// The stack or the machine does not support the scenario.
    Unsupported {
        /// The reason.
        reason: String,
    },
}

impl SuiteOutcome {
    /// Returns the figures of the trial if it succeeded.
    pub fn ok(&self) -> Option<&SuiteMeasured> {
        match self {
            Self::Ok(measured) => Some(measured),
            Self::Failed(_) | Self::Unsupported { .. } => None,
        }
    }
}

/// The figures of a trial.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct SuiteMeasured {
    /// The parameters that the client's side of the first handshake negotiated, if the scenario has sessions.
    pub client: Option<Negotiated>,
    /// The negotiated parameters as the server's side reports them.
    pub server: Option<Negotiated>,
    /// Number of handshakes during the measurement.
    pub handshakes: u64,
    /// Number of those handshakes that were resumed, as the clients report.
    pub client_resumed: u64,
    /// Number of those handshakes that were resumed, as the servers report.
    pub server_resumed: u64,
    /// Timed operations by slice. Slices of one round and scenario with the same ordinal were measured in direct
    /// succession on all stacks.
    pub slices: Vec<SliceFigures>,
    /// Distribution of each measure's operations over all slices, without the warm-up of a turn, by wall clock.
    pub wall: BTreeMap<Measure, Distribution>,
    /// Distribution of each measure's operations over all slices, without the warm-up of a turn, by the thread's CPU
    /// clock.
    pub cpu: BTreeMap<Measure, Distribution>,
    /// The memory of many sessions, in the part `memory`.
    pub held: Option<Held>,
    /// Instructions per operation, in the part `instructions`.
    pub instructions: BTreeMap<Measure, f64>,
    /// The system calls of operations. Absent with threads, in later rounds, and in runs that did not count them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system_calls: Option<SystemCalls>,
}

/// The operations of one slice.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SliceFigures {
    /// Number of timings after the warm-up, each of one operation or of one batch. All other figures are computed from
    /// these. With threads, the number of operations on all threads together.
    pub operations: u32,
    /// Number of timings of the warm-up, of which only `first_ns` is recorded. 0 in runs whose turns had no warm-up.
    #[serde(default)]
    pub warm_up: u32,
    /// Number of operations in each timing.
    #[serde(default = "one")]
    pub batch: u32,
    /// Time of the turn's first operation for each measure, on caches that the other stacks' turns left. Empty with
    /// batches, with threads, and in runs whose turns had no warm-up.
    #[serde(default)]
    pub first_ns: BTreeMap<Measure, f64>,
    /// The 10th percentile of each measure, in nanoseconds of wall clock; with threads, the mean.
    pub low_ns: BTreeMap<Measure, f64>,
    /// The median of each measure. Empty in runs that did not record it.
    #[serde(default)]
    pub median_ns: BTreeMap<Measure, f64>,
    /// The mean of each measure. Empty in runs that did not record it.
    #[serde(default)]
    pub mean_ns: BTreeMap<Measure, f64>,
    /// Durations of the reference loops between the operations; `None` with threads, and in runs without the loops.
    #[serde(default)]
    pub reference: Option<ReferenceFigures>,
    /// Number of minor page faults in the whole slice, warm-up included. Absent with threads, and in runs that did not
    /// count them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub minor_faults: Option<u64>,
}

impl SliceFigures {
    /// Whether a time is zero, negative or infinite, which no clock says of an operation.
    fn is_impossible(&self) -> bool {
        let times = [&self.low_ns, &self.median_ns, &self.mean_ns];
        let mut times = times.into_iter().flat_map(BTreeMap::values);
        self.operations > 0 && times.any(|ns| !ns.is_finite() || *ns <= 0.0)
    }
}

fn one() -> u32 {
    1
}

/// Timings in nanoseconds: every operation is counted, with its time rounded to three digits.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Distribution {
    /// Number of timings.
    pub count: u64,
    /// The sum of the timings.
    pub sum_ns: u64,
    /// The minimum.
    pub min_ns: u64,
    /// The maximum.
    pub max_ns: u64,
    /// Pairs of a time, rounded to three digits, and its frequency, in increasing order.
    pub histogram: Vec<(u64, u64)>,
}

impl Distribution {
    /// Returns the distribution of the given timings.
    pub fn of_ns(timings: impl IntoIterator<Item = u64>) -> Self {
        let mut found = Self {
            min_ns: u64::MAX,
            ..Self::default()
        };
        let mut counts: BTreeMap<u64, u64> = BTreeMap::new();
        for ns in timings {
            found.count += 1;
            found.sum_ns = found.sum_ns.saturating_add(ns);
            found.min_ns = found.min_ns.min(ns);
            found.max_ns = found.max_ns.max(ns);
            *counts.entry(three_digits(ns)).or_default() += 1;
        }
        found.min_ns = found.min_ns.min(found.max_ns);
        found.histogram = counts.into_iter().collect();
        found
    }

    /// Returns the distribution of all the given distributions together.
    #[must_use]
    pub fn merged<'a>(all: impl IntoIterator<Item = &'a Self>) -> Self {
        let mut merged = Self {
            min_ns: u64::MAX,
            ..Self::default()
        };
        let mut counts: BTreeMap<u64, u64> = BTreeMap::new();
        for one in all.into_iter().filter(|one| one.count > 0) {
            merged.count += one.count;
            merged.sum_ns = merged.sum_ns.saturating_add(one.sum_ns);
            merged.min_ns = merged.min_ns.min(one.min_ns);
            merged.max_ns = merged.max_ns.max(one.max_ns);
            for (ns, times) in &one.histogram {
                *counts.entry(*ns).or_default() += times;
            }
        }
        merged.min_ns = merged.min_ns.min(merged.max_ns);
        merged.histogram = counts.into_iter().collect();
        merged
    }

    /// Returns the mean.
    pub fn mean_ns(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum_ns as f64 / self.count as f64)
    }

    /// Returns the quantile `p` (0 to 1) by nearest rank, with the histogram's three digits.
    pub fn quantile_ns(&self, p: f64) -> Option<u64> {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "p is clamped to 0..=1"
        )]
        let rank = ((self.count as f64 * p.clamp(0.0, 1.0)).ceil() as u64).max(1);
        let mut passed = 0;
        self.histogram.iter().find_map(|(ns, times)| {
            passed += times;
            (passed >= rank).then_some(*ns)
        })
    }
}

/// Rounds to three digits.
fn three_digits(ns: u64) -> u64 {
    let mut step = 1;
    while ns / step >= 1_000 {
        step *= 10;
    }
    (ns + step / 2) / step * step
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_digits_are_kept() {
        for (ns, kept) in [
            (0, 0),
            (999, 999),
            (1_000, 1_000),
            (1_004, 1_000),
            (1_005, 1_010),
            (123_456, 123_000),
            (999_600, 1_000_000),
        ] {
            assert_eq!(three_digits(ns), kept);
        }
    }

    #[test]
    fn parts_merge_to_the_whole() {
        let all: Vec<u64> = (1..=1000).map(|i| i * 37 % 5_001).collect();
        let (left, right) = all.split_at(300);
        let whole = Distribution::of_ns(all.iter().copied());
        let parts = [left, right].map(|part| Distribution::of_ns(part.iter().copied()));
        assert_eq!(Distribution::merged(&parts), whole);
        assert_eq!(whole.quantile_ns(0.0), Some(whole.min_ns));
        let mut sorted = all.clone();
        sorted.sort_unstable();
        for (p, rank) in [(0.001, 0), (0.5, 499), (0.95, 949), (1.0, 999)] {
            assert_eq!(whole.quantile_ns(p), Some(three_digits(sorted[rank])));
        }
        assert_eq!(Distribution::of_ns([]).quantile_ns(0.5), None);
        assert_eq!(Distribution::of_ns([]).mean_ns(), None);
    }
}
