use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    BogoError, Catalog, Category, Ending, Expects, FEATURES, Features, Outcome, Results, RunnerId,
    ShimConfig, feature::OTHER,
};

/// What each shim passed, feature by feature.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Coverage {
    /// The runner.
    pub runner: RunnerId,
    /// Tests of the runner.
    pub tests: usize,
    /// Tests that a shim passes by doing nothing, and which count for no one.
    pub floor: usize,
    /// Pattern of the tests that were run; none for all.
    pub pattern: Option<String>,
    /// The shims, in the order of the columns.
    pub shims: Vec<ShimSummary>,
    /// The features; a test may be about several.
    pub features: Vec<FeatureRow>,
    /// What a reader has to know.
    pub warnings: Vec<String>,
}

/// One shim over all tests.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ShimSummary {
    /// The shim.
    pub shim: String,
    /// All that the runner says it passed, the floor included.
    pub passed_with_floor: usize,
    /// Tests that expect success.
    pub works: Tally,
    /// Tests that expect the library to refuse something, without the floor.
    pub refuses: Tally,
    /// Failures that the shim's configuration explains, by kind.
    pub explained: BTreeMap<Category, usize>,
    /// Failures that nothing explains, by name, with the runner's words in one line.
    pub unexplained: BTreeMap<String, String>,
    /// Tests in which the shim crashed or hung.
    pub crashed: BTreeMap<String, Ending>,
}

/// Tests counted by how they went.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Tally {
    /// As the runner wants it.
    pub passed: usize,
    /// Otherwise.
    pub failed: usize,
    /// The library has no way to do it.
    pub unsupported: usize,
}

impl Tally {
    /// All of them.
    pub fn total(self) -> usize {
        self.passed + self.failed + self.unsupported
    }

    fn add(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::Passed => self.passed += 1,
            Outcome::Failed => self.failed += 1,
            Outcome::Unsupported => self.unsupported += 1,
        }
    }
}

/// Which half of the tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Half {
    /// Those that expect success.
    Works,
    /// Those that expect a refusal.
    Refuses,
}

/// One feature.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FeatureRow {
    /// Its name.
    pub feature: String,
    /// Tests that expect success, a tally for each shim.
    pub works: Vec<Tally>,
    /// Tests that expect a refusal, a tally for each shim.
    pub refuses: Vec<Tally>,
}

impl FeatureRow {
    /// The tallies of one half.
    pub fn half(&self, half: Half) -> &[Tally] {
        match half {
            Half::Works => &self.works,
            Half::Refuses => &self.refuses,
        }
    }
}

/// A shim's name, its configuration, and its results.
pub(crate) type Column<'a> = (&'a str, &'a ShimConfig, &'a Results);

impl Coverage {
    /// Sums up results. `only` keeps one feature.
    ///
    /// # Errors
    /// When there are results of tests that the catalog does not know: they are of another runner.
    pub fn sum_up(
        runner: &RunnerId,
        catalog: &Catalog,
        shims: &[(&str, &ShimConfig, &Results)],
        only: Option<&str>,
    ) -> Result<Self, BogoError> {
        let mut rows: Vec<FeatureRow> = FEATURES
            .iter()
            .map(|feature| feature.name)
            .chain([OTHER])
            .map(|name| FeatureRow {
                feature: name.to_owned(),
                works: vec![Tally::default(); shims.len()],
                refuses: vec![Tally::default(); shims.len()],
            })
            .collect();
        let mut summaries = Vec::new();
        for (column, shim) in shims.iter().enumerate() {
            summaries.push(sum_up_shim(catalog, *shim, only, column, &mut rows)?);
        }
        let wanted = |row: &FeatureRow| only.is_none_or(|only| row.feature == only);
        let any = |row: &FeatureRow| {
            row.works
                .iter()
                .chain(&row.refuses)
                .any(|tally| tally.total() > 0)
        };
        rows.retain(|row| wanted(row) && any(row));
        Ok(Self {
            runner: runner.clone(),
            tests: catalog.len(),
            floor: catalog.floor(),
            pattern: None,
            shims: summaries,
            features: rows,
            warnings: Vec::new(),
        })
    }
}

fn sum_up_shim(
    catalog: &Catalog,
    (shim, config, results): Column<'_>,
    only: Option<&str>,
    column: usize,
    rows: &mut [FeatureRow],
) -> Result<ShimSummary, BogoError> {
    let mut summary = ShimSummary {
        shim: shim.to_owned(),
        passed_with_floor: 0,
        works: Tally::default(),
        refuses: Tally::default(),
        explained: BTreeMap::new(),
        unexplained: BTreeMap::new(),
        crashed: BTreeMap::new(),
    };
    let features = Features::all();
    for (name, result) in &results.tests {
        let Some(expects) = catalog.expects(name) else {
            let why = format!("there are results of {name:?}, which this runner does not have");
            return Err(BogoError::bad(shim, why));
        };
        let about = features.of(name);
        if only.is_some_and(|only| !is_about(&about, only)) {
            continue;
        }
        let outcome = counted(config, name, result.outcome);
        summary.passed_with_floor += usize::from(result.outcome == Outcome::Passed);
        if result.outcome == Outcome::Failed {
            explain(&mut summary, config, name, result);
        }
        let half = match expects {
            Expects::Success => Half::Works,
            Expects::Failure => Half::Refuses,
            Expects::NothingProved => continue,
        };
        let other = [FEATURES.len()];
        let about = if about.is_empty() { &other[..] } else { &about };
        match half {
            Half::Works => summary.works.add(outcome),
            Half::Refuses => summary.refuses.add(outcome),
        }
        for row in about {
            match half {
                Half::Works => rows[*row].works[column].add(outcome),
                Half::Refuses => rows[*row].refuses[column].add(outcome),
            }
        }
    }
    Ok(summary)
}

fn is_about(rows: &[usize], feature: &str) -> bool {
    if rows.is_empty() {
        return feature == OTHER;
    }
    rows.iter().any(|row| FEATURES[*row].name == feature)
}

/// A failure for want of a feature is no failure of the library, and neither is one of a test that is
/// about BoringSSL itself.
pub(crate) fn counted(config: &ShimConfig, test: &str, outcome: Outcome) -> Outcome {
    match (outcome, config.reason(test)) {
        (
            Outcome::Failed,
            Some((Category::Missing | Category::Boringssl | Category::Runner, _)),
        ) => Outcome::Unsupported,
        _ => outcome,
    }
}

fn explain(summary: &mut ShimSummary, config: &ShimConfig, name: &str, result: &crate::TestResult) {
    let ending = result.ending();
    if ending != Ending::Exited {
        summary.crashed.insert(name.to_owned(), ending);
    }
    match config.reason(name) {
        Some((category, _)) => *summary.explained.entry(category).or_default() += 1,
        None => {
            summary.unexplained.insert(name.to_owned(), result.line());
        }
    }
}
