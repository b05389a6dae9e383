use std::collections::BTreeMap;

use netbench_model::{Case, Negotiated, Part, StackName, Unit};
use netbench_stats::{Change, Choice, FEWEST_QUIET, OtherFigure, RoundsNeeded, UndecidedReason};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ConnectionLife, HandshakeBreakdown, PublishedTable, SystemCallFigures, ThreadLatency};
use crate::{RunHead, SummaryHead};

/// The summary of a run of the in-memory suite. For every figure, smaller is better, and every ratio is the other
/// stack's over the first one's: under 1, the other is faster, or takes less.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SuiteSummary {
    /// The schema, the kind and the seed.
    #[serde(flatten)]
    pub head: SummaryHead,
    /// The run.
    pub run: SuiteHead,
    /// Every case, in the order of the plan.
    pub cases: Vec<CaseRow>,
    /// The cryptographic part of full handshakes, if the run has both.
    #[serde(default)]
    pub breakdowns: Vec<HandshakeBreakdown>,
    /// The times of single operations by number of threads.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub latencies: Vec<ThreadLatency>,
    /// The memory of sessions over their life, if the run held the same sessions in several states.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lives: Vec<ConnectionLife>,
    /// The table that the preset reproduces, as others have published it.
    pub published: Option<PublishedTable>,
    /// Trials that failed, with the error.
    pub failures: Vec<SuiteFailure>,
    /// Scenarios that a stack or the machine does not support.
    pub unsupported: Vec<SuiteFailure>,
    /// Warnings that a reader must know before quoting a figure.
    pub warnings: Vec<String>,
    /// The machine.
    pub environment: BTreeMap<String, String>,
}

/// The run that a summary is of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SuiteHead {
    /// The fields that all runs have.
    #[serde(flatten)]
    pub head: RunHead,
    /// The preset, if one was given.
    pub preset: Option<String>,
    /// The stacks in their order, with library and provider.
    pub stacks: Vec<(StackName, String)>,
    /// The largest number of rounds of a scenario.
    pub rounds: u32,
    /// Whether scenarios ended as soon as they were decided.
    pub until_decided: bool,
    /// Number of samples.
    pub samples: u64,
}

/// One case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CaseRow {
    /// Its name.
    #[schemars(extend("x-key" = "item"))]
    pub name: String,
    /// The case.
    pub case: Case,
    /// The part of the suite.
    pub part: Part,
    /// The unit of its figures.
    pub unit: Unit,
    /// Each stack's figures; a stack without figures is in `failures` or `unsupported`, or its resident size did
    /// not grow, so that there is no figure for a session.
    pub stacks: Vec<StackFigures>,
    /// Each other stack compared with the first.
    pub verdicts: Vec<CaseVerdict>,
    /// With the preset `history`: each version compared with the preceding one that has figures.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<CaseVerdict>,
}

/// One stack's figures in one case, in the case's unit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("x-unit-in" = "unit"))]
pub struct StackFigures {
    /// The stack.
    pub stack: StackName,
    /// Number of rounds, each in a separate process.
    pub rounds: u64,
    /// Number of operations after each turn's warm-up.
    pub operations: u64,
    /// The figure that verdicts rest on: for timings, each turn's 10th percentile, the median over a round's quiet
    /// turns, and the median of these; for other units, the median over rounds.
    pub low: f64,
    /// Operations per second at `low`; absent if the case is not timed.
    pub per_second: Option<f64>,
    /// Bytes of plaintext per second at `low`, if the case transfers data.
    pub bytes_per_second: Option<f64>,
    /// The median over turns of the first operation of each, on caches that the other stacks' turns left: the
    /// condition *after a pause*. Absent in runs whose turns had no warm-up.
    #[serde(default)]
    pub after_pause: Option<f64>,
    /// The mean.
    pub mean: Option<f64>,
    /// The 5th percentile of all operations.
    pub p5: Option<f64>,
    /// The median.
    pub p50: Option<f64>,
    /// The 95th percentile.
    pub p95: Option<f64>,
    /// The 99th percentile.
    pub p99: Option<f64>,
    /// The maximum.
    pub max: Option<f64>,
    /// The median absolute deviation from the median, not scaled.
    pub mad: Option<f64>,
    /// Number of operations of more than three times the median. They are included in every figure.
    pub outliers: u64,
    /// The median of the thread's CPU time, of operations around which only that clock was read.
    pub cpu_p50: Option<f64>,
    /// Number of minor page faults of an operation: the mean over all turns, of both sides of a session together. Absent if they
    /// were not counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-unit" = "faults/operation"))]
    pub page_faults: Option<f64>,
    /// The system calls of an operation. Absent if they were not counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system_calls: Option<SystemCallFigures>,
    /// The median of the per-round figures that verdicts rest on, one for each round.
    pub by_round: Vec<f64>,
    /// The negotiated parameters, as the client saw them.
    pub negotiated: Option<Negotiated>,
}

/// One stack compared with another, in one case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CaseVerdict {
    /// The stack that the other is compared with.
    pub first: StackName,
    /// The other stack.
    #[schemars(extend("x-key" = "other"))]
    pub other: StackName,
    /// The paired ratio with its verdict on the other.
    #[serde(alias = "paired")]
    pub change: Change,
    /// Number of pairs of turns; if `choice` is `quiet`, only those in which the machine was quiet are in `change`.
    pub turns: u64,
    /// The selection of the pairs of `change`.
    pub choice: Choice,
    /// The ratio over all pairs of turns; absent if the case is not timed.
    #[schemars(extend("x-unit" = "other/first"))]
    pub all_turns: Option<f64>,
    /// The ratio of the turns' medians, over the pairs of `change`.
    pub median: Option<OtherFigure>,
    /// The ratio of the turns' means, over the pairs of `change`.
    pub mean: Option<OtherFigure>,
    /// The ratio of the turns' first operations, over the pairs of `change`: the condition *after a pause*, in
    /// which other work has emptied the caches. No verdict rests on it. Absent in runs whose turns had no warm-up.
    #[serde(default)]
    pub after_pause: Option<OtherFigure>,
    /// Measured operations of a turn, of the side that has fewer; absent if the case is not timed, and in summaries
    /// of earlier versions.
    #[serde(default)]
    pub turn_operations: Option<u32>,
    /// The reason why there is no verdict, if it is not only the width of the interval.
    pub undecided: Option<UndecidedReason>,
    /// The rounds that would decide the verdict, if it is `undecided`. Absent in summaries of earlier versions.
    #[serde(default)]
    pub rounds_needed: Option<RoundsNeeded>,
}

impl CaseVerdict {
    /// Returns the number of pairs of turns in which the machine was quiet. If there are none, `change` is over all
    /// turns.
    pub(super) fn quiet_turns(&self) -> u64 {
        let all = self.change.pairs() == self.turns;
        match self.undecided {
            Some(UndecidedReason::FewQuietTurns) if all && self.turns >= FEWEST_QUIET => 0,
            _ => self.change.pairs(),
        }
    }
}

/// Trials without figures.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SuiteFailure {
    /// The scenario's name.
    #[schemars(extend("x-key" = "item"))]
    pub scenario: String,
    /// The stack.
    pub stack: StackName,
    /// The class of the failure; absent if the scenario is unsupported.
    #[schemars(extend("x-key" = "item"))]
    pub class: Option<String>,
    /// The reason, in the words of the first trial.
    pub reason: String,
    /// Number of trials.
    pub trials: u64,
}

impl SuiteSummary {
    /// Returns every verdict with its case.
    pub(crate) fn verdicts(&self) -> impl Iterator<Item = (&CaseRow, &CaseVerdict)> {
        let cases = self.cases.iter();
        cases.flat_map(|case| case.verdicts.iter().map(move |verdict| (case, verdict)))
    }

    /// Returns the share of timed turns in which the machine was disturbed.
    pub fn disturbed_share(&self) -> f64 {
        let chosen = self.verdicts().filter(|(case, verdict)| {
            case.unit == Unit::Nanoseconds && verdict.choice == Choice::Quiet
        });
        let (all, kept) = chosen.fold((0, 0), |(all, kept), (_, verdict)| {
            (all + verdict.turns, kept + verdict.quiet_turns())
        });
        if all == 0 {
            return 0.0;
        }
        1.0 - kept as f64 / all as f64
    }

    /// Returns whether any two stacks could be compared.
    pub fn compares(&self) -> bool {
        self.verdicts().next().is_some()
    }

    /// Returns whether there is a figure to read: two stacks could be compared, or the only one was measured.
    pub fn tells(&self) -> bool {
        self.compares() || self.run.stacks.len() == 1 && self.measures()
    }

    /// Returns whether any stack has a figure.
    pub fn measures(&self) -> bool {
        self.cases.iter().any(|case| !case.stacks.is_empty())
    }
}
