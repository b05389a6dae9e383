//! Runs of the suite over time, case by case.

use std::iter::once;

use netbench_model::{Case, StackName, SuiteManifest, SuiteSample, Unit};
use netbench_stats::{Interval, Verdict};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    CaseRow, CaseVerdict, StackFigures, SuiteHead, SuiteSummary, cases::value,
    compare::differences, joined::held_back, summarize_suite,
};
use crate::{SummaryHead, differences::Difference, matrix::ComparedStack, text::alike};

/// The cases of several runs of the suite over time. A ratio is the stack's figure over that of the run's first stack,
/// measured side by side: it depends less on the machine than the figure itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SuiteHistory {
    /// The schema, the kind and the seed.
    #[serde(flatten)]
    pub head: SummaryHead,
    /// The runs, the oldest first.
    pub runs: Vec<HistoryRun>,
    /// Every case and stack with figures in two runs or more.
    pub cases: Vec<HistoryCase>,
    /// Runs that could not be read, with the reasons.
    pub left_out: Vec<String>,
}

/// One of the runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HistoryRun {
    /// Its name.
    #[schemars(extend("x-key" = "item"))]
    pub run: String,
    /// Start, RFC 3339, UTC.
    pub started: String,
    /// The stacks in their order, with library and provider.
    pub stacks: Vec<(StackName, String)>,
}

/// A case of a stack over time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HistoryCase {
    /// The case's name.
    #[schemars(extend("x-key" = "item"))]
    pub name: String,
    /// The stack.
    #[schemars(extend("x-key" = "other"))]
    pub stack: StackName,
    /// The stack that it is compared with, which is the first of each run.
    #[schemars(extend("x-key" = "other"))]
    pub first: StackName,
    /// The unit of the figures.
    pub unit: Unit,
    /// The figures, the oldest first.
    pub figures: Vec<HistoryFigure>,
}

/// The figure of a case in one run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HistoryFigure {
    /// The run's name.
    #[schemars(extend("x-key" = "item"))]
    pub run: String,
    /// Start of the run, RFC 3339, UTC.
    pub started: String,
    /// The library of the stack, with its version.
    pub library: String,
    /// The figure with its unit, for people.
    pub text: String,
    /// The ratio to the run's first stack; under 1, the stack is faster, or takes less.
    #[schemars(extend("x-unit" = "other/first"))]
    pub ratio: f64,
    /// The interval of the ratio; absent with too few rounds.
    #[schemars(extend("x-unit" = "other/first"))]
    pub interval: Option<Interval>,
    /// The change of the ratio since the run before: better or worse if the two intervals have no value in common.
    /// Absent for the first run, between runs whose settings or processors differ, and
    /// if the turns of either allow no verdict.
    pub step: Option<Verdict>,
    /// The first stack's own figure over that of the run before. If it changed too, the machine may have.
    #[schemars(extend("x-unit" = "after/before"))]
    pub first_change: Option<f64>,
    /// The settings, programs and facts about the machine that differ from the run before.
    pub differs: Vec<String>,
}

/// Puts runs of the suite in their order, and follows each case and stack over them.
pub fn history_of_suite(
    mut runs: Vec<(SuiteManifest, Vec<SuiteSample>)>,
    left_out: Vec<String>,
) -> SuiteHistory {
    runs.sort_by(|(a, _), (b, _)| (&a.started, &a.name).cmp(&(&b.started, &b.name)));
    let summaries = runs
        .iter()
        .map(|(run, samples)| summarize_suite(run, samples));
    let summaries: Vec<SuiteSummary> = summaries.collect();
    let found = runs.iter().zip(&summaries);
    let found = found.flat_map(|((manifest, _), summary)| cases_of(manifest, summary));
    let cases = alike(found).into_iter();
    let cases = cases.filter(|(_, found)| found.len() > 1);
    let cases = cases.map(|((case, first, stack), found)| {
        let before = once(None).chain(found.iter().map(Some));
        let figures = found.iter().zip(before);
        HistoryCase {
            name: case.to_string(),
            stack: stack.clone(),
            first: first.clone(),
            unit: case.unit(),
            figures: figures.map(|(case, before)| case.figure(before)).collect(),
        }
    });
    SuiteHistory {
        head: SummaryHead::new("suite-history"),
        cases: cases.collect(),
        runs: runs
            .iter()
            .map(|(manifest, _)| HistoryRun::of(manifest))
            .collect(),
        left_out,
    }
}

impl HistoryRun {
    fn of(manifest: &SuiteManifest) -> Self {
        let stacks = ComparedStack::all(&manifest.plan.stacks, manifest).into_iter();
        Self {
            run: manifest.name.clone(),
            started: manifest.started.clone(),
            stacks: stacks.map(|of| (of.stack, of.library)).collect(),
        }
    }
}

/// A case, the run's first stack, and the stack that is compared with it.
type Key<'a> = (Case, &'a StackName, &'a StackName);

/// A case of a stack in one run.
struct InRun<'a> {
    manifest: &'a SuiteManifest,
    run: &'a SuiteHead,
    row: &'a CaseRow,
    verdict: &'a CaseVerdict,
    /// The figures of the first stack and of the other.
    sides: [&'a StackFigures; 2],
}

/// Returns each case and stack of a run that is compared with the first stack.
fn cases_of<'a>(
    manifest: &'a SuiteManifest,
    summary: &'a SuiteSummary,
) -> impl Iterator<Item = (Key<'a>, InRun<'a>)> {
    summary.verdicts().filter_map(move |(row, verdict)| {
        let found = InRun {
            manifest,
            run: &summary.run,
            row,
            verdict,
            sides: [row.of(&verdict.first)?, row.of(&verdict.other)?],
        };
        Some(((row.case, &verdict.first, &verdict.other), found))
    })
}

impl InRun<'_> {
    /// Returns the figure, compared with that of the run before.
    fn figure(&self, before: Option<&Self>) -> HistoryFigure {
        let [first, other] = self.sides;
        let differing = before.map(|before| differences(before.manifest, self.manifest));
        let differing = differing.unwrap_or_default();
        let comparable = differing.iter().all(|difference| difference.harmless);
        let mut stacks = self.run.stacks.iter();
        let library = stacks.find(|(stack, _)| *stack == self.verdict.other);
        HistoryFigure {
            run: self.run.head.name.clone(),
            started: self.run.head.started.clone(),
            library: library.map_or_else(String::new, |(_, library)| library.clone()),
            text: value(self.row, other).render(),
            ratio: self.verdict.change.ratio,
            interval: self.verdict.change.interval,
            step: before
                .filter(|_| comparable)
                .and_then(|before| Some(step(before.judged()?, self.judged()?))),
            first_change: before.map(|before| first.low / before.sides[0].low),
            differs: differing.into_iter().map(in_words).collect(),
        }
    }

    /// Returns the interval of the ratio, if the run's turns allow a verdict.
    fn judged(&self) -> Option<Interval> {
        let interval = self.verdict.change.interval;
        interval.filter(|_| held_back(self.verdict.undecided).is_none())
    }
}

/// Returns whether a ratio moved: the intervals have no value in common.
fn step(before: Interval, after: Interval) -> Verdict {
    if after.high < before.low {
        Verdict::Faster
    } else if after.low > before.high {
        Verdict::Slower
    } else {
        Verdict::Undecided
    }
}

/// Returns a difference in a few words; lists of the processor's features are too long for both values.
fn in_words(difference: Difference) -> String {
    const LONGEST: usize = 60;
    let Difference {
        what, first, other, ..
    } = difference;
    match first.len().max(other.len()) > LONGEST {
        true => what,
        false => format!("{what}: {first} → {other}"),
    }
}
