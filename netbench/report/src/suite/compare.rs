use netbench_model::{Case, Part, Scenario, StackName, SuiteManifest, SuiteSample, Unit};
use netbench_stats::{
    Autocorrelation, CASE_MARGIN, Change, Order, Resampling, UndecidedReason, Verdict,
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
    differences::{
        Compared, Difference, Fact, alone, both, compared_stacks, differing, of_machine,
    },
    gate::{Gated, Judged, Regression},
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
    /// The gate. Its rows are the cases, including those of `unmeasured`, for which it cannot tell.
    #[serde(flatten)]
    pub gate: Gated,
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

/// Compares two runs. `stacks` names a stack of each; without it, every stack that both runs have is compared.
pub fn compare_runs_of_suite(
    first: (&SuiteManifest, &[SuiteSample]),
    other: (&SuiteManifest, &[SuiteSample]),
    stacks: Option<(&StackName, &StackName)>,
    threshold: Option<f64>,
) -> CompareSummary {
    let sides = [first, other];
    let [first_run, other_run] = sides.map(|(run, _)| &run.plan);
    let pairs = compared_stacks(&first_run.stacks, &other_run.stacks, stacks);
    let [firsts, others] = [first_run, other_run].map(|plan| {
        let scenarios = plan.scenarios.iter();
        scenarios.flat_map(Scenario::cases).collect::<Vec<Case>>()
    });
    let level = Resampling::for_case(0, 1.0).verdict_level;
    let verdicts = sides.map(|(run, samples)| Verdicts::of(&run.plan, samples));
    let mut found = Vec::new();
    let (mut missing, mut unmeasured) = (Vec::new(), Vec::new());
    for (a, b) in &pairs {
        for case in both(&firsts, &others) {
            let (x, y) = match (figures(case, a, first.1), figures(case, b, other.1)) {
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
            let key = CaseOfSides {
                name: case.to_string(),
                part: case.scenario.part(),
                first_stack: a.clone(),
                other_stack: b.clone(),
                undecided: turns.and_then(|(x, y)| held_back([x, y], Order::Apart)),
                turn_operations: turns.map(|(x, y)| x.operations.min(y.operations)),
                rounds: (x.by_round.len() as u64, y.by_round.len() as u64),
            };
            let correlation = Autocorrelation::of(&[&x.by_round, &y.by_round]);
            let mut row = row(key, case.unit(), [&x, &y], (change, correlation), threshold);
            if row.key.undecided.is_some() {
                row.change.verdict = Verdict::NotJudged;
            }
            found.push(row);
        }
    }
    missing.extend(alone(&firsts, &others));
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
            side(first.0, pairs.iter().map(|pair| &pair.0)),
            side(other.0, pairs.iter().map(|pair| &pair.1)),
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
            match only_first {
                true => unmeasured.push(case.name.clone()),
                false => missing.push(case.name.clone()),
            }
            continue;
        };
        let key = CaseOfSides {
            name: case.name.clone(),
            part: case.part,
            first_stack: first.clone(),
            other_stack: other.clone(),
            undecided: verdict.undecided,
            turn_operations: verdict.turn_operations,
            rounds: (a.rounds, b.rounds),
        };
        let change = (verdict.change, of_ratios(a, b));
        cases.push(row(key, case.unit, [a, b], change, threshold));
    }
    CompareSummary {
        paired: true,
        missing,
        warnings: summary.warnings,
        ..CompareSummary::new(
            side(manifest, [first]),
            side(manifest, [other]),
            threshold,
            cases,
            unmeasured,
        )
    }
}

impl CompareSummary {
    fn new(
        first: Compared,
        other: Compared,
        threshold: Option<f64>,
        cases: Vec<ComparedCase>,
        unmeasured: Vec<String>,
    ) -> Self {
        let of_unmeasured = match threshold {
            Some(_) => Regression::CannotTell,
            None => Regression::NotAsked,
        };
        let of_cases = cases.iter().map(|case| case.judged.regression);
        let outcomes = of_cases.chain(unmeasured.iter().map(|_| of_unmeasured));
        Self {
            head: SummaryHead::new("compare"),
            first,
            other,
            paired: false,
            gate: Gated::of(threshold, outcomes),
            cases,
            missing: Vec::new(),
            unmeasured,
            differences: Vec::new(),
            warnings: Vec::new(),
        }
    }
}

/// Returns the row of a case, judged by the correlation of its rounds, if there is no reason to distrust its interval.
fn row(
    key: CaseOfSides,
    unit: Unit,
    [first, other]: [&StackFigures; 2],
    (change, correlation): (Change, Autocorrelation),
    threshold: Option<f64>,
) -> ComparedCase {
    Row {
        judged: match key.undecided {
            Some(_) => Judged::unreliable(threshold),
            None => Judged::of(&change, correlation, threshold, CASE_MARGIN),
        },
        key,
        unit,
        first: first.low,
        other: other.low,
        change,
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

pub(super) fn side<'a>(
    run: &SuiteManifest,
    stacks: impl IntoIterator<Item = &'a StackName>,
) -> Compared {
    Compared::of(run, stacks, |_| None)
}

/// Returns the differences between two runs: settings and machine, which prevent a comparison of their figures, and
/// properties that may be the subject of the comparison.
pub(super) fn differences(a: &SuiteManifest, b: &SuiteManifest) -> Vec<Difference> {
    differing(facts(a), &facts(b))
}

fn facts(run: &SuiteManifest) -> Vec<Fact> {
    let plan = &run.plan;
    let turn_operations = plan.turn_operations.map(|least| least.to_string());
    let decisive = [
        ("certificates", plan.pki_sha256.clone()),
        ("trial_ms", plan.trial_ms.to_string()),
        ("slice_us", plan.slice_us.to_string()),
        (
            "turn_operations",
            turn_operations.unwrap_or_else(|| "none".to_owned()),
        ),
        ("pin", plan.is_pinned().to_string()),
        ("layout", format!("{:?}", plan.layout)),
    ];
    Fact::list(decisive, []).chain(of_machine(run)).collect()
}
