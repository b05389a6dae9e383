use itertools::Itertools;
use netbench_model::{Case, Part, StackName, SuiteManifest, SuiteSample, Unit};
use netbench_stats::{CASE_MARGIN, Interval, JoinedRatio, UndecidedReason, Verdict, join_runs};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    CaseRow, CaseVerdict, SuiteSummary,
    compare::{differences, side},
    summarize_suite,
};
use crate::{
    SummaryHead,
    differences::{Compared, Difference},
};

/// The probability of as large a Q below which runs are said to differ.
const HETEROGENEOUS: f64 = 0.01;

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
    let verdicts: Vec<Verdicts<'_>> = summaries
        .iter()
        .map(|summary| summary.verdicts().collect())
        .collect();
    let cases: Vec<JoinedCase> = joined_cases(&verdicts).map(|(_, case)| case).collect();
    let overlaps: Vec<bool> = cases.iter().flat_map(overlaps).collect();
    let heterogeneous = cases.iter().filter(|case| case.is_heterogeneous());
    JoinedSummary {
        head: SummaryHead::new("joined"),
        runs: runs
            .iter()
            .zip(&summaries)
            .map(|((manifest, _), summary)| JoinedRun {
                compared: side(manifest, summary.run.stacks.iter().map(|(name, _)| name)),
                started: manifest.started.clone(),
                rounds: summary.run.rounds,
                disturbed_share: summary.disturbed_share(),
            })
            .collect(),
        heterogeneous: heterogeneous.count() as u64,
        pairs: overlaps.len() as u64,
        overlapping: overlaps.iter().filter(|overlap| **overlap).count() as u64,
        cases,
        differences: runs
            .iter()
            .skip(1)
            .flat_map(|(other, _)| differences(&runs[0].0, other))
            .unique()
            .collect(),
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

/// The cases of one run, each with a verdict on a pair of stacks.
pub(crate) type Verdicts<'a> = Vec<(&'a CaseRow, &'a CaseVerdict)>;

/// Joins the cases for which two runs or more have a verdict, in the order of the first run that has them.
pub(crate) fn joined_cases(runs: &[Verdicts<'_>]) -> impl Iterator<Item = (Case, JoinedCase)> {
    let verdicts = runs.iter().flatten();
    verdicts
        .map(|(row, verdict)| (row.case, &verdict.first, &verdict.other))
        .unique()
        .map(|key| (key.0, joined_case(key, runs)))
        .filter(|(_, case)| case.runs.iter().flatten().count() >= 2)
}

fn joined_case(
    (case, first, other): (Case, &StackName, &StackName),
    runs: &[Verdicts<'_>],
) -> JoinedCase {
    let all: Vec<Option<&CaseVerdict>> = runs
        .iter()
        .map(|run| {
            let mut verdicts = run.iter();
            let found = verdicts.find(|(row, verdict)| {
                (row.case, &verdict.first, &verdict.other) == (case, first, other)
            });
            found.map(|(_, verdict)| *verdict)
        })
        .collect();
    let verdicts = all.iter().copied().flatten();
    let changes = verdicts.clone().map(|verdict| &verdict.change);
    let sound = verdicts
        .clone()
        .filter(|verdict| held_back(verdict.undecided).is_none())
        .map(|verdict| &verdict.change);
    let (joined, undecided) = match join_runs(sound, CASE_MARGIN) {
        Some(joined) => (Some(joined), None),
        None => {
            let joined = join_runs(changes, CASE_MARGIN).map(|joined| JoinedRatio {
                verdict: Verdict::NotJudged,
                ..joined
            });
            let mut reasons = verdicts.map(|verdict| verdict.undecided);
            (joined, reasons.find_map(held_back))
        }
    };
    JoinedCase {
        name: case.to_string(),
        part: case.scenario.part(),
        unit: case.unit(),
        first: first.clone(),
        other: other.clone(),
        runs: all.iter().map(|verdict| verdict.map(RunSays::of)).collect(),
        joined,
        undecided,
    }
}

impl RunSays {
    fn of(verdict: &CaseVerdict) -> Self {
        Self {
            ratio: verdict.change.ratio,
            verdict: verdict.change.verdict,
            interval: verdict.change.interval,
            undecided: verdict.undecided,
        }
    }
}

/// Returns the reason why a run's ratio is not joined with others: its turns allow no verdict. A ratio that depends
/// on how busy the machine was is joined, with the interval that was widened for that.
pub(crate) fn held_back(undecided: Option<UndecidedReason>) -> Option<UndecidedReason> {
    undecided.filter(|reason| *reason != UndecidedReason::DependsOnDisturbance)
}

impl JoinedCase {
    /// Returns whether the runs differ by more than their own errors.
    pub fn is_heterogeneous(&self) -> bool {
        self.joined.is_some_and(|joined| joined.q_p < HETEROGENEOUS)
    }
}

/// Returns for each pair of two runs' intervals whether they overlap.
fn overlaps(case: &JoinedCase) -> impl Iterator<Item = bool> {
    let intervals = case.runs.iter().flatten().filter_map(|run| run.interval);
    let pairs = intervals.array_combinations();
    pairs.map(|[a, b]| a.low <= b.high && b.low <= a.high)
}
