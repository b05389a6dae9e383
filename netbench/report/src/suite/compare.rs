use netbench_model::{Case, Part, Scenario, StackName, SuiteManifest, SuiteSample};
use netbench_stats::{
    Autocorrelation, CASE_MARGIN, Change, Order, Precision, Resampling, UndecidedReason, Verdict,
    compare_runs, held_back,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    StackFigures,
    figures::{figures, side_turns},
    summarize::never_quiet,
    summarize_suite,
    verdicts::Verdicts,
};
use crate::{
    Row, SummaryHead,
    differences::{Fact, differing, of_machine},
    gate::{Gate, Judged, Regression},
    run::about_stack,
};

/// Comparison of two runs of the suite, or of two stacks of one run, case by case. Every ratio is the other's
/// figure over the first one's: over 1, the other is slower, or takes more.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompareSummary {
    /// The schema, the kind and the seed.
    #[serde(flatten)]
    pub head: SummaryHead,
    /// The side that is compared with.
    pub first: Compared,
    /// The side that is compared.
    pub other: Compared,
    /// Whether both were measured side by side in one run.
    pub paired: bool,
    /// The change from which a case counts as regressed: 0.02 for 2 %.
    pub threshold: Option<f64>,
    /// Number of cases that regressed.
    pub regressed: u64,
    /// Number of cases for which a regression is neither shown nor excluded, including those of `unmeasured`.
    #[serde(default)]
    pub cannot_tell: u64,
    /// Every case that both sides have.
    pub cases: Vec<ComparedCase>,
    /// Cases that only one of the sides has.
    pub missing: Vec<String>,
    /// Cases of both plans of which only the first has figures: their outcome is not known.
    #[serde(default)]
    pub unmeasured: Vec<String>,
    /// The differences in settings and machine.
    pub differences: Vec<Difference>,
    /// Warnings that a reader must know before quoting a figure.
    pub warnings: Vec<String>,
}

/// One side of a comparison.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Compared {
    /// The run's name.
    #[schemars(extend("x-key" = "item"))]
    pub run: String,
    /// The stacks, with library and provider.
    pub stacks: Vec<(StackName, String)>,
}

/// A case of both sides.
pub type ComparedCase = Row<CaseOfSides>;

/// The case of a row, and the stacks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CaseOfSides {
    /// The case's name.
    #[schemars(extend("x-key" = "item"))]
    pub name: String,
    /// The part of the suite.
    pub part: Part,
    /// The first side's stack.
    pub first_stack: StackName,
    /// The other side's stack.
    #[schemars(extend("x-key" = "other"))]
    pub other_stack: StackName,
    /// The reason why there is no verdict, if it is not the width of the interval.
    #[serde(default)]
    pub undecided: Option<UndecidedReason>,
    /// Measured operations of a turn, of the side that has fewer; absent if the case is not timed, and in summaries
    /// of earlier versions.
    #[serde(default)]
    pub turn_operations: Option<u32>,
    /// Rounds of the first and of the other.
    pub rounds: (u64, u64),
}

/// A setting or a fact that differs.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Difference {
    /// The name of the setting or fact.
    #[schemars(extend("x-key" = "item"))]
    pub what: String,
    /// The first side's value.
    pub first: String,
    /// The other side's value.
    pub other: String,
    /// Whether figures under both values may still be compared.
    pub harmless: bool,
}

/// Compares two runs. `stacks` names a stack of each; without it, every stack that both runs have is compared.
pub fn compare_runs_of_suite(
    first: (&SuiteManifest, &[SuiteSample]),
    other: (&SuiteManifest, &[SuiteSample]),
    stacks: Option<(&StackName, &StackName)>,
    threshold: Option<f64>,
) -> CompareSummary {
    let (first_run, other_run) = (&first.0.plan, &other.0.plan);
    let pairs: Vec<(StackName, StackName)> = match stacks {
        Some((a, b)) => vec![(a.clone(), b.clone())],
        None => first_run
            .stacks
            .iter()
            .filter(|stack| other_run.stacks.contains(stack))
            .map(|stack| (stack.clone(), stack.clone()))
            .collect(),
    };
    let cases = |scenarios: &[Scenario]| -> Vec<Case> {
        scenarios.iter().flat_map(Scenario::cases).collect()
    };
    let (firsts, others) = (cases(&first_run.scenarios), cases(&other_run.scenarios));
    let level = Resampling::for_case(0, 1.0).verdict_level;
    let verdicts = [first, other].map(|(run, samples)| Verdicts::of(&run.plan, samples));
    let mut found = Vec::new();
    let (mut missing, mut unmeasured) = (Vec::new(), Vec::new());
    for (a, b) in &pairs {
        for case in firsts.iter().filter(|case| others.contains(case)) {
            let one = (figures(case, a, first.1), figures(case, b, other.1));
            let (x, y) = match one {
                (Some(x), Some(y)) => (x, y),
                (Some(_), None) => {
                    unmeasured.push(format!("{case} ({a}, {b})"));
                    continue;
                }
                (None, None) if case.is_of_one_side() => continue,
                _ => {
                    missing.push(format!("{case} ({a}, {b})"));
                    continue;
                }
            };
            let Some(change) = compare_runs(&x.by_round, &y.by_round, level) else {
                continue;
            };
            let idle = [verdicts[0].idle(a), verdicts[1].idle(b)];
            let turns =
                side_turns(case, a, first.1, &idle[0]).zip(side_turns(case, b, other.1, &idle[1]));
            let undecided = turns.and_then(|(x, y)| held_back([x, y], Order::Apart));
            let precision = Precision::of(&change).map(|precision| {
                let rounds = [&x.by_round[..], &y.by_round];
                precision.with_correlation(Autocorrelation::of(&rounds))
            });
            found.push(Row {
                key: CaseOfSides {
                    name: case.to_string(),
                    part: case.scenario.part(),
                    first_stack: a.clone(),
                    other_stack: b.clone(),
                    undecided,
                    turn_operations: turns.map(|(x, y)| x.operations.min(y.operations)),
                    rounds: (x.by_round.len() as u64, y.by_round.len() as u64),
                },
                unit: case.unit(),
                first: x.low,
                other: y.low,
                judged: judged(&change, precision, undecided, threshold),
                change: Change {
                    verdict: undecided.map_or(change.verdict, |_| Verdict::NotJudged),
                    ..change
                },
            });
        }
    }
    let only = |these: &[Case], those: &[Case]| -> Vec<String> {
        let alone = these.iter().filter(|case| !those.contains(case));
        alone.map(ToString::to_string).collect()
    };
    missing.extend(only(&firsts, &others));
    missing.extend(only(&others, &firsts));
    let mut warnings = vec![
        "The two runs were not measured side by side: what changed on the machine between them is in \
         the ratios. One run with both stacks tells more."
            .to_owned(),
    ];
    warnings.extend(never_quiet(found.iter().map(|case| case.key.undecided)));
    CompareSummary {
        missing,
        differences: differences(first.0, other.0),
        warnings,
        ..CompareSummary::new(
            Compared::of(first.0, pairs.iter().map(|pair| &pair.0)),
            Compared::of(other.0, pairs.iter().map(|pair| &pair.1)),
            threshold,
            found,
            unmeasured,
        )
    }
}

/// Compares two stacks of one run, by their pairs of turns.
pub fn compare_stacks_of_suite(
    manifest: &SuiteManifest,
    samples: &[SuiteSample],
    first: &StackName,
    other: &StackName,
    threshold: Option<f64>,
) -> CompareSummary {
    let mut only = manifest.clone();
    only.plan.stacks = vec![first.clone(), other.clone()];
    let summary = summarize_suite(&only, samples);
    let (mut missing, mut unmeasured) = (Vec::new(), Vec::new());
    let mut cases = Vec::new();
    for case in &summary.cases {
        let ([a, b], [verdict]) = (case.stacks.as_slice(), case.verdicts.as_slice()) else {
            let only_first = case.of(first).is_some() && case.of(other).is_none();
            let names = if only_first {
                &mut unmeasured
            } else {
                &mut missing
            };
            names.push(case.name.clone());
            continue;
        };
        let change = verdict.change;
        let precision =
            Precision::of(&change).map(|precision| precision.with_correlation(of_ratios(a, b)));
        cases.push(Row {
            key: CaseOfSides {
                name: case.name.clone(),
                part: case.part,
                first_stack: first.clone(),
                other_stack: other.clone(),
                undecided: verdict.undecided,
                turn_operations: verdict.turn_operations,
                rounds: (a.rounds, b.rounds),
            },
            unit: case.unit,
            first: a.low,
            other: b.low,
            judged: judged(&change, precision, verdict.undecided, threshold),
            change,
        });
    }
    CompareSummary {
        paired: true,
        missing,
        warnings: summary.warnings,
        ..CompareSummary::new(
            Compared::of(manifest, [first]),
            Compared::of(manifest, [other]),
            threshold,
            cases,
            unmeasured,
        )
    }
}

impl CompareSummary {
    /// Returns the result of the comparison; `None` without a threshold.
    pub fn gate(&self) -> Option<Gate> {
        Gate::of(self.threshold, self.regressed, self.cannot_tell)
    }

    fn new(
        first: Compared,
        other: Compared,
        threshold: Option<f64>,
        cases: Vec<ComparedCase>,
        unmeasured: Vec<String>,
    ) -> Self {
        let count = |regression| {
            let cases = cases.iter();
            let those = cases.filter(|case| case.judged.regression == regression);
            those.count() as u64
        };
        let not_known = match threshold {
            Some(_) => unmeasured.len() as u64,
            None => 0,
        };
        Self {
            head: SummaryHead::new("compare"),
            first,
            other,
            paired: false,
            threshold,
            regressed: count(Regression::Regressed),
            cannot_tell: count(Regression::CannotTell) + not_known,
            cases,
            missing: Vec::new(),
            unmeasured,
            differences: Vec::new(),
            warnings: Vec::new(),
        }
    }
}

/// Judges a case by its interval, if there is no reason to distrust it.
fn judged(
    change: &Change,
    precision: Option<Precision>,
    held_back: Option<UndecidedReason>,
    threshold: Option<f64>,
) -> Judged {
    match held_back {
        Some(_) => Judged::of(None, None, threshold),
        None => {
            let judged = Judged::of(change.interval, precision, threshold);
            judged.with_verdict(change.verdict, precision, CASE_MARGIN)
        }
    }
}

/// Returns the correlation of the ratios of rounds; zero if the sides have different numbers of rounds.
fn of_ratios(first: &StackFigures, other: &StackFigures) -> Autocorrelation {
    let (first, other) = (&first.by_round, &other.by_round);
    if first.len() != other.len() {
        return Autocorrelation::default();
    }
    let ratios: Vec<f64> = first.iter().zip(other).map(|(a, b)| b / a).collect();
    Autocorrelation::of(&[&ratios])
}

impl Compared {
    pub(super) fn of<'a>(
        run: &SuiteManifest,
        stacks: impl IntoIterator<Item = &'a StackName>,
    ) -> Self {
        let about = |stack: &StackName| (stack.clone(), about_stack(&run.workers, stack, |_| None));
        Self {
            run: run.name.clone(),
            stacks: stacks.into_iter().map(about).collect(),
        }
    }
}

/// Returns the differences between two runs: settings and machine, which prevent a comparison of their figures, and
/// properties that may be the subject of the comparison.
pub(super) fn differences(a: &SuiteManifest, b: &SuiteManifest) -> Vec<Difference> {
    differing(facts(a), &facts(b))
}

fn facts(run: &SuiteManifest) -> Vec<Fact> {
    let plan = &run.plan;
    let mut facts = vec![
        Fact::decisive("certificates", plan.pki_sha256.clone()),
        Fact::decisive("trial_ms", plan.trial_ms.to_string()),
        Fact::decisive("slice_us", plan.slice_us.to_string()),
        Fact::decisive(
            "turn_operations",
            plan.turn_operations
                .map_or_else(|| "none".to_owned(), |least| least.to_string()),
        ),
        Fact::decisive("pin", plan.is_pinned().to_string()),
        Fact::decisive("layout", format!("{:?}", plan.layout)),
    ];
    facts.extend(of_machine(run));
    facts
}
