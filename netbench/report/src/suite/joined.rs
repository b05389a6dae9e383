use itertools::Itertools;
use netbench_model::{Case, Part, StackName, SuiteManifest, SuiteSample, Unit};
use netbench_stats::{
    CASE_MARGIN, Change, Interval, JoinedRatio, RunRatio, UndecidedReason, Verdict, join_runs,
    student_t_quantile,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::SummaryHead;

use super::{
    CaseVerdict, Compared, Difference, SuiteSummary, compare::differences, summarize_suite,
};

/// The probability of as large a Q below which runs are said to differ.
const HETEROGENEOUS: f64 = 0.01;

/// The smallest standard error of a ratio, regardless of one run's figures: counts and sizes may not vary within a
/// run at all.
const LEAST_ERROR: f64 = 1e-4;

/// Several runs of the same comparison, case by case, and their joint result. Every ratio is the other stack's
/// figure over the first one's: under 1, the other is faster, or takes less.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JoinedSummary {
    /// The schema, the kind and the seed.
    #[serde(flatten)]
    pub head: SummaryHead,
    /// The runs.
    pub runs: Vec<JoinedRun>,
    /// Every case for which two runs or more have a ratio.
    pub cases: Vec<JoinedCase>,
    /// Number of cases in which the runs differ by more than their own errors, by Cochran's Q at 1 %.
    pub heterogeneous: u64,
    /// Number of pairs of two runs' intervals of one case.
    pub pairs: u64,
    /// Number of pairs that overlap.
    pub overlapping: u64,
    /// The differences in settings and machine from the first run.
    pub differences: Vec<Difference>,
    /// Warnings that a reader must know before quoting a figure.
    pub warnings: Vec<String>,
}

/// One of the runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JoinedRun {
    /// The run's name and stacks.
    #[serde(flatten)]
    pub compared: Compared,
    /// Start, RFC 3339, UTC.
    pub started: String,
    /// The largest number of rounds of a scenario.
    pub rounds: u32,
    /// The share of pairs of turns in which the machine was disturbed.
    pub disturbed_share: f64,
}

/// A case and a pair of stacks in all runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JoinedCase {
    /// The case's name.
    #[schemars(extend("x-key" = "item"))]
    pub name: String,
    /// The part of the suite.
    pub part: Part,
    /// The unit of the figures.
    pub unit: Unit,
    /// The first stack.
    pub first: StackName,
    /// The other stack.
    #[schemars(extend("x-key" = "other"))]
    pub other: StackName,
    /// Each run's result, in their order; absent for a run without a ratio.
    #[schemars(extend("x-names" = "/runs"))]
    pub runs: Vec<Option<RunSays>>,
    /// The joint result; absent if fewer than two runs have an interval. Runs whose turns allow no verdict are left
    /// out if two others remain; otherwise all are joined and not judged.
    pub joined: Option<JoinedRatio>,
    /// The reason why the joint result is not judged.
    #[serde(default)]
    pub undecided: Option<UndecidedReason>,
}

/// One run's result for a case.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("x-unit" = "other/first"))]
pub struct RunSays {
    /// The ratio.
    pub ratio: f64,
    /// Its verdict.
    pub verdict: Verdict,
    /// The interval that the verdict rests on.
    pub interval: Option<Interval>,
    /// The reason why the run has no verdict, if it is not the width of the interval.
    #[serde(default)]
    pub undecided: Option<UndecidedReason>,
}

/// Joins runs of the same comparison, performed at different times. The other stacks are compared with each run's
/// first stack, or the second of `stacks` with the first.
pub fn join_runs_of_suite(
    runs: &[(SuiteManifest, Vec<SuiteSample>)],
    stacks: Option<(&StackName, &StackName)>,
) -> JoinedSummary {
    let summaries: Vec<SuiteSummary> = runs
        .iter()
        .map(|(manifest, samples)| {
            let mut manifest = manifest.clone();
            if let Some((first, other)) = stacks {
                manifest.plan.stacks = vec![first.clone(), other.clone()];
            }
            summarize_suite(&manifest, samples)
        })
        .collect();
    let mut keys: Vec<(Case, &StackName, &StackName)> = Vec::new();
    for row in summaries.iter().flat_map(|summary| &summary.cases) {
        for verdict in &row.verdicts {
            let key = (row.case, &verdict.first, &verdict.other);
            if !keys.contains(&key) {
                keys.push(key);
            }
        }
    }
    let cases = keys.into_iter().map(|key| joined_case(key, &summaries));
    let cases: Vec<JoinedCase> = cases
        .filter(|case| case.runs.iter().flatten().count() >= 2)
        .collect();
    let (pairs, overlapping) = overlaps(&cases);
    let heterogeneous = cases.iter().filter(|case| case.is_heterogeneous());
    JoinedSummary {
        head: SummaryHead::new("joined"),
        runs: runs
            .iter()
            .zip(&summaries)
            .map(|((manifest, _), summary)| JoinedRun {
                compared: Compared::of(manifest, summary.run.stacks.iter().map(|(name, _)| name)),
                started: manifest.started.clone(),
                rounds: summary.run.rounds,
                disturbed_share: summary.disturbed_share(),
            })
            .collect(),
        heterogeneous: heterogeneous.count() as u64,
        pairs,
        overlapping,
        cases,
        differences: runs
            .split_first()
            .map(|((first, _), others)| {
                let all = others
                    .iter()
                    .flat_map(|(other, _)| differences(first, other))
                    .unique();
                all.collect()
            })
            .unwrap_or_default(),
        warnings: summaries
            .iter()
            .flat_map(|summary| {
                let name = &summary.run.head.name;
                let warnings = summary.warnings.iter();
                warnings.map(move |warning| format!("{name}: {warning}"))
            })
            .collect(),
    }
}

fn joined_case(
    (case, first, other): (Case, &StackName, &StackName),
    summaries: &[SuiteSummary],
) -> JoinedCase {
    let found = |summary: &SuiteSummary| -> Option<CaseVerdict> {
        let row = summary.cases.iter().find(|row| row.case == case)?;
        let same = |verdict: &&CaseVerdict| verdict.first == *first && verdict.other == *other;
        row.verdicts.iter().find(same).cloned()
    };
    let all: Vec<Option<CaseVerdict>> = summaries.iter().map(found).collect();
    let ratio = |verdict: &CaseVerdict| run_ratio(&verdict.change);
    let ratios: Vec<RunRatio> = all.iter().flatten().filter_map(ratio).collect();
    let sound: Vec<RunRatio> = all
        .iter()
        .flatten()
        .filter(|verdict| held_back(verdict.undecided).is_none())
        .filter_map(ratio)
        .collect();
    let (joined, undecided) = match join_runs(&sound, CASE_MARGIN) {
        Some(joined) => (Some(joined), None),
        None => {
            let verdict = Verdict::NotJudged;
            let joined = join_runs(&ratios, CASE_MARGIN);
            let mut reasons = all.iter().flatten().map(|verdict| verdict.undecided);
            let reason = reasons.find_map(held_back);
            (
                joined.map(|joined| JoinedRatio { verdict, ..joined }),
                reason,
            )
        }
    };
    JoinedCase {
        name: case.to_string(),
        part: case.scenario.part(),
        unit: case.unit(),
        first: first.clone(),
        other: other.clone(),
        runs: all
            .iter()
            .map(|verdict| {
                verdict.as_ref().map(|verdict| RunSays {
                    ratio: verdict.change.ratio,
                    verdict: verdict.change.verdict,
                    interval: verdict.change.interval,
                    undecided: verdict.undecided,
                })
            })
            .collect(),
        joined,
        undecided,
    }
}

/// Returns the reason why a run's ratio is not joined with others: its turns allow no verdict. A ratio that depends
/// on how busy the machine was is joined, with the interval that was widened for that.
pub(super) fn held_back(undecided: Option<UndecidedReason>) -> Option<UndecidedReason> {
    undecided.filter(|reason| *reason != UndecidedReason::DependsOnDisturbance)
}

/// Returns a run's ratio with the standard error from which its interval was made. With blocks of unequal size, the
/// interval had fewer degrees of freedom than blocks; the error is then a few percent too large.
fn run_ratio(paired: &Change) -> Option<RunRatio> {
    let interval = paired.interval?;
    let degrees = paired.blocks().saturating_sub(1).max(1) as f64;
    let quantile = student_t_quantile(f64::midpoint(1.0, interval.level), degrees);
    let half = (interval.high / interval.low).ln() / 2.0;
    Some(RunRatio {
        log_ratio: paired.ratio.ln(),
        standard_error: (half / quantile).max(LEAST_ERROR),
    })
}

impl JoinedCase {
    /// Returns whether the runs differ by more than their own errors.
    pub fn is_heterogeneous(&self) -> bool {
        self.joined.is_some_and(|joined| joined.q_p < HETEROGENEOUS)
    }
}

/// Returns the number of pairs of two runs' intervals, and of pairs that overlap.
fn overlaps(cases: &[JoinedCase]) -> (u64, u64) {
    let (mut pairs, mut overlapping) = (0, 0);
    for case in cases {
        let intervals = case.runs.iter().flatten().filter_map(|run| run.interval);
        let intervals: Vec<Interval> = intervals.collect();
        for (at, a) in intervals.iter().enumerate() {
            for b in &intervals[at + 1..] {
                pairs += 1;
                overlapping += u64::from(a.low <= b.high && b.low <= a.high);
            }
        }
    }
    (pairs, overlapping)
}
