use std::collections::BTreeMap;

use itertools::{Either, Itertools};
use netbench_model::{
    StackName,
    compat::{Judgement, OutsideClient},
    features::{FeatureCase, FeatureOutcome, FeatureSample, FeaturesManifest, Guards, PageReport},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    matrix::{Attempt, Judgements, Matrix},
    run::{RunHead, SummaryHead},
};

/// The findings of a run of `browser features`: its `summary.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FeaturesSummary {
    /// The schema, the kind and the seed.
    #[serde(flatten)]
    pub head: SummaryHead,
    /// The run's settings.
    pub run: FeaturesHead,
    /// The cases in which the browsers differ.
    pub differences: Vec<FeatureDifference>,
    /// The number of cases with each judgement, for each browser.
    #[schemars(extend("x-names" = "/clients"))]
    pub totals: Vec<Judgements>,
    /// Every case, in the catalogue's order.
    #[serde(flatten)]
    pub matrix: Matrix<FeatureCase, StackName, FeatureCell>,
    /// Warnings that a reader must know before quoting a figure.
    pub warnings: Vec<String>,
}

/// The settings of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FeaturesHead {
    /// The fields that all runs have.
    #[serde(flatten)]
    pub head: RunHead,
    /// The browsers.
    pub browsers: Vec<OutsideClient>,
    /// The time limit of a page for its report, in milliseconds.
    pub limit_ms: u64,
}

/// A case that is as expected in some browsers and not in others.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FeatureDifference {
    /// The case.
    #[schemars(extend("x-key" = "item"))]
    pub case: String,
    /// A description of the page.
    pub about: String,
    /// The consequence of another outcome than the expected one.
    pub guards: Guards,
    /// The browsers in which the outcome is as expected.
    pub expected_in: Vec<StackName>,
    /// The browsers in which it is not.
    pub otherwise_in: Vec<StackName>,
}

/// The outcome of a browser in a case.
pub type FeatureCell = Attempt<FeatureResult>;

/// The facts that were seen of a page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FeatureResult {
    /// Each difference from the expectation, or the reason why there is no outcome.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub seen: Vec<String>,
    /// The values that the page reported.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub told: BTreeMap<String, String>,
}

impl FeatureCell {
    fn of(case: &FeatureCase, outcome: &FeatureOutcome) -> Self {
        let (seen, told) = match outcome {
            FeatureOutcome::Crash { detail: why } | FeatureOutcome::Unsupported { reason: why } => {
                (vec![why.clone()], BTreeMap::new())
            }
            FeatureOutcome::Silent {
                after_ms,
                shown,
                seen,
            } => {
                let mut words = vec![format!(
                    "the page did not report within {after_ms} ms, and made {} requests",
                    seen.requests.len()
                )];
                words.extend(shown.iter().map(|code| format!("the browser shows {code}")));
                (words, BTreeMap::new())
            }
            FeatureOutcome::Reported { seen } => match &seen.report {
                Some(PageReport::Unsupported(reason)) => (vec![reason.clone()], BTreeMap::new()),
                Some(PageReport::Told(told)) => (case.differences(seen), told.clone()),
                Some(PageReport::Failed(_)) | None => (case.differences(seen), BTreeMap::new()),
            },
        };
        Self {
            judgement: case.judge(outcome),
            result: FeatureResult { seen, told },
        }
    }

    /// Returns the outcome in a word: whether it is as expected, or the reason why there is none.
    pub(super) fn word(&self) -> &'static str {
        match self.judgement {
            Judgement::Right => "+",
            Judgement::Hung => "no report",
            judgement @ (Judgement::Unsupported | Judgement::Crashed) => judgement.name(),
            _ => "-",
        }
    }
}

/// Summarizes a run. If a case was tested twice, the last result counts.
pub fn summarize_features(
    manifest: &FeaturesManifest,
    samples: Vec<FeatureSample>,
) -> FeaturesSummary {
    let plan = &manifest.plan;
    let matrix = Matrix::of(
        plan.cases.iter().cloned(),
        &plan.clients,
        samples
            .iter()
            .map(|it| (it.case.as_str(), &it.browser, &it.outcome)),
        |case| &case.name,
        |case, _, outcome| FeatureCell::of(case, outcome),
    );
    let mut warnings = manifest.warnings.clone();
    warnings.extend(plan.browsers.iter().filter_map(OutsideClient::warning));
    warnings.extend(matrix.ended_early("page was", "pages were", "opened"));
    FeaturesSummary {
        head: SummaryHead::of(manifest),
        run: FeaturesHead {
            head: RunHead::of(manifest),
            browsers: plan.browsers.clone(),
            limit_ms: plan.limit_ms,
        },
        differences: differences(&matrix),
        totals: matrix.totals(),
        matrix,
        warnings,
    }
}

/// Returns the cases in which browsers with an outcome differ, first those that protect.
fn differences(matrix: &Matrix<FeatureCase, StackName, FeatureCell>) -> Vec<FeatureDifference> {
    let rows = matrix.cases.iter().filter_map(|row| {
        let cells = matrix.clients.iter().zip(&row.cells);
        let told = cells.filter_map(|(client, cell)| {
            let cell = cell.as_ref().filter(|cell| cell.is_told())?;
            Some((client.clone(), cell.judgement == Judgement::Right))
        });
        let (expected_in, otherwise_in): (Vec<_>, Vec<_>) =
            told.partition_map(|(client, is_expected)| match is_expected {
                true => Either::Left(client),
                false => Either::Right(client),
            });
        let differ = !expected_in.is_empty() && !otherwise_in.is_empty();
        differ.then(|| FeatureDifference {
            case: row.case.name.clone(),
            about: row.case.about.clone(),
            guards: row.case.guards,
            expected_in,
            otherwise_in,
        })
    });
    rows.sorted_by_key(|row| match row.guards {
        Guards::Protection => 0,
        Guards::Function => 1,
        Guards::Speed => 2,
    })
    .collect()
}
