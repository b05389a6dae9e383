use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Category, Ending, RunnerId, TestOutcome};

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
    /// How many of those that passed have an expectation of a diagnosis that only BoringSSL offers, which was
    /// ignored.
    #[serde(default)]
    pub passed_less_diagnosis: usize,
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

    /// Counts one test.
    pub fn add(&mut self, outcome: TestOutcome) {
        match outcome {
            TestOutcome::Passed => self.passed += 1,
            TestOutcome::Failed => self.failed += 1,
            TestOutcome::Unsupported => self.unsupported += 1,
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
