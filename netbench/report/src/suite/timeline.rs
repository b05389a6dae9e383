//! Runs of the suite over time, case by case.

use std::collections::HashMap;

use netbench_model::{Case, StackName, SuiteManifest, SuiteSample, Unit};
use netbench_stats::{Interval, Verdict};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{SuiteSummary, cases::value, compare::differences, joined::held_back, summarize_suite};
use crate::{SummaryHead, differences::Difference, matrix::ComparedStack};

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
    let mut cases: HashMap<Key, Vec<Followed>> = HashMap::new();
    let mut order = Vec::new();
    for (run, (manifest, samples)) in runs.iter().enumerate() {
        let summary = summarize_suite(manifest, samples);
        for (key, figure) in figures(run, &summary) {
            if !cases.contains_key(&key) {
                order.push(key.clone());
            }
            cases.entry(key).or_default().push(figure);
        }
    }
    let mut followed = Vec::new();
    for key in order {
        let Some(mut figures) = cases.remove(&key).filter(|figures| figures.len() > 1) else {
            continue;
        };
        compare(&mut figures, &runs);
        let (case, first, stack) = key;
        followed.push(HistoryCase {
            name: case.to_string(),
            stack,
            first,
            unit: case.unit(),
            figures: figures
                .into_iter()
                .map(|followed| followed.figure)
                .collect(),
        });
    }
    SuiteHistory {
        head: SummaryHead::new("suite-history"),
        runs: runs
            .iter()
            .map(|(manifest, _)| HistoryRun::of(manifest))
            .collect(),
        cases: followed,
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
type Key = (Case, StackName, StackName);

/// A figure that is being followed.
struct Followed {
    /// The index of its run.
    run: usize,
    figure: HistoryFigure,
    /// The first stack's figure.
    first: f64,
    /// Whether the run's turns allow a verdict.
    is_judged: bool,
}

/// Returns the figure of each case and stack of a run that is compared with the first stack.
fn figures(run: usize, summary: &SuiteSummary) -> impl Iterator<Item = (Key, Followed)> {
    summary.verdicts().filter_map(move |(row, verdict)| {
        let figures = row.of(&verdict.other)?;
        let mut stacks = summary.run.stacks.iter();
        let library = stacks.find(|(stack, _)| *stack == verdict.other);
        let figure = HistoryFigure {
            run: summary.run.head.name.clone(),
            started: summary.run.head.started.clone(),
            library: library.map_or_else(String::new, |(_, library)| library.clone()),
            text: value(row, figures).render(),
            ratio: verdict.change.ratio,
            interval: verdict.change.interval,
            step: None,
            first_change: None,
            differs: Vec::new(),
        };
        let followed = Followed {
            run,
            figure,
            first: row.of(&verdict.first)?.low,
            is_judged: held_back(verdict.undecided).is_none(),
        };
        let key = (row.case, verdict.first.clone(), verdict.other.clone());
        Some((key, followed))
    })
}

/// Compares each figure with the one before it.
fn compare(figures: &mut [Followed], runs: &[(SuiteManifest, Vec<SuiteSample>)]) {
    for at in 1..figures.len() {
        let [before, after] = &mut figures[at - 1..=at] else {
            continue;
        };
        let differing = differences(&runs[before.run].0, &runs[after.run].0);
        let comparable = before.is_judged
            && after.is_judged
            && differing.iter().all(|difference| difference.harmless);
        let figure = &mut after.figure;
        figure.step = step(&before.figure, figure).filter(|_| comparable);
        figure.first_change = Some(after.first / before.first);
        figure.differs = differing.into_iter().map(in_words).collect();
    }
}

/// Returns whether a ratio moved: the intervals have no value in common.
fn step(before: &HistoryFigure, after: &HistoryFigure) -> Option<Verdict> {
    let (before, after) = (before.interval?, after.interval?);
    Some(if after.high < before.low {
        Verdict::Faster
    } else if after.low > before.high {
        Verdict::Slower
    } else {
        Verdict::Undecided
    })
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
