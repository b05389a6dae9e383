use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Category, TestOutcome};

/// Which tests one shim passes and another does not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Difference {
    /// One shim.
    pub first: String,
    /// The other.
    pub second: String,
    /// Tests that both pass, the floor left out.
    pub both: usize,
    /// Tests that neither passes.
    pub neither: usize,
    /// What only the first passes, and why the second does not.
    pub only_first: Vec<DifferenceGroup>,
    /// What only the second passes, and why the first does not.
    pub only_second: Vec<DifferenceGroup>,
}

/// Tests of one feature that one shim does not pass, all for the same reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DifferenceGroup {
    /// The feature.
    pub feature: String,
    /// Whether the tests failed, or the library has no way to do them.
    pub outcome: TestOutcome,
    /// What kind of reason it is, where the shim's configuration gives one.
    pub category: Option<Category>,
    /// The reason, or the runner's words in one line.
    pub why: String,
    /// How many of the tests expect success.
    pub expect_success: usize,
    /// The tests.
    pub tests: Vec<String>,
}
