use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Category, TestOutcome};

/// The tests that one of two shims passes and the other does not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Difference {
    /// The first shim.
    pub first: String,
    /// The second shim.
    pub second: String,
    /// Number of tests that both pass, without the floor.
    pub both: usize,
    /// Number of tests that neither passes.
    pub neither: usize,
    /// The tests that only the first passes, with the reasons why the second does not.
    pub only_first: Vec<DifferenceGroup>,
    /// The tests that only the second passes, with the reasons why the first does not.
    pub only_second: Vec<DifferenceGroup>,
}

/// Tests of one feature that one shim does not pass, all for the same reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DifferenceGroup {
    /// The feature.
    #[schemars(extend("x-key" = "item"))]
    pub feature: String,
    /// The outcome of the tests: failed, or not supported by the library.
    pub outcome: TestOutcome,
    /// The kind of the reason, if the shim's configuration states it.
    pub category: Option<Category>,
    /// The reason, or the runner's message in one line.
    pub why: String,
    /// Number of the tests that expect success.
    pub expect_success: usize,
    /// The tests.
    pub tests: Vec<String>,
}
