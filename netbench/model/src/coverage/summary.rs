use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Category, Ending, RunnerId, TestOutcome};

/// The tests that each shim passed, by feature.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Coverage {
    /// The runner.
    pub runner: RunnerId,
    /// Number of tests of the runner.
    pub tests: usize,
    /// Number of tests that a shim passes without doing anything, and which are not counted.
    pub floor: usize,
    /// The pattern of the tests that were run; `None` for all tests.
    pub pattern: Option<String>,
    /// The shims, in the order of the columns.
    pub shims: Vec<ShimSummary>,
    /// The features; a test may be about several.
    pub features: Vec<FeatureRow>,
    /// Warnings for the reader.
    pub warnings: Vec<String>,
}

/// The results of one shim over all tests.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ShimSummary {
    /// The shim.
    #[schemars(extend("x-key" = "first"))]
    pub shim: String,
    /// Number of tests that the runner reports as passed, including the floor.
    pub passed_with_floor: usize,
    /// Tally of the tests that expect success.
    pub works: Tally,
    /// Number of passed tests whose expected diagnosis, which only BoringSSL gives, was ignored.
    #[serde(default)]
    pub passed_less_diagnosis: usize,
    /// Tally of the tests that expect a refusal, without the floor.
    pub refuses: Tally,
    /// Number of failures that the shim's configuration explains, by kind.
    pub explained: BTreeMap<Category, usize>,
    /// Failures without an explanation, by name, with the runner's message in one line.
    pub unexplained: BTreeMap<String, String>,
    /// Tests in which the shim crashed or hung.
    pub crashed: BTreeMap<String, Ending>,
}

/// Numbers of tests by outcome.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Tally {
    /// Tests with the result that the runner expects.
    pub passed: usize,
    /// Tests with any other result.
    pub failed: usize,
    /// Tests that the library does not support.
    pub unsupported: usize,
}

impl Tally {
    /// Returns the sum of all outcomes.
    pub fn total(self) -> usize {
        self.passed + self.failed + self.unsupported
    }

    /// Counts one test.
    pub fn add(&mut self, outcome: TestOutcome) {
        match outcome {
            TestOutcome::Passed => self.passed += 1,
            TestOutcome::Failed => self.failed += 1,
            TestOutcome::Unsupported => self.unsupported += 1,
        }
    }
}

/// One half of the tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Half {
    /// Tests that expect success.
    Works,
    /// Tests that expect a refusal.
    Refuses,
}

/// The results for one feature.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FeatureRow {
    /// The name of the feature.
    #[schemars(extend("x-key" = "item"))]
    pub feature: String,
    /// Tests that expect success, a tally for each shim.
    #[schemars(extend("x-names" = "/shims"))]
    pub works: Vec<Tally>,
    /// Tests that expect a refusal, a tally for each shim.
    #[schemars(extend("x-names" = "/shims"))]
    pub refuses: Vec<Tally>,
}

impl FeatureRow {
    /// Returns the tallies of one half.
    pub fn half(&self, half: Half) -> &[Tally] {
        match half {
            Half::Works => &self.works,
            Half::Refuses => &self.refuses,
        }
    }
}
