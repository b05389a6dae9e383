use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Protocol, Role, RunnerId};
use crate::compat::Judgement;

/// Tests in which a stack violates the protocol.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Defects {
    /// The runner.
    pub runner: RunnerId,
    /// The stacks' shims, in the order of the judgements.
    pub shims: Vec<String>,
    /// Number of tests that all shims run.
    pub run_by_all: usize,
    /// Number of defects of each shim in those tests.
    #[schemars(extend("x-names" = "/shims"))]
    pub among_those: Vec<usize>,
    /// Number of defects of each shim in all tests that it runs.
    #[schemars(extend("x-names" = "/shims"))]
    pub among_all: Vec<usize>,
    /// Number of causes of each shim's defects in the tests that all shims run. Empty in a record that does not count
    /// causes.
    #[serde(default)]
    #[schemars(extend("x-names" = "/shims"))]
    pub causes_among_those: Vec<usize>,
    /// Number of causes of each shim's defects in all tests that it runs.
    #[serde(default)]
    #[schemars(extend("x-names" = "/shims"))]
    pub causes_among_all: Vec<usize>,
    /// The tests, grouped by reason.
    pub tests: Vec<DefectTest>,
    /// Warnings for the reader.
    pub warnings: Vec<String>,
}

/// A test in which at least one stack violates the protocol.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DefectTest {
    /// The runner's name of the test.
    #[schemars(extend("x-key" = "item"))]
    pub test: String,
    /// The role of the stack.
    pub role: Role,
    /// The protocol; `None` if the combination is not a protocol.
    pub protocol: Option<Protocol>,
    /// The deviation of the runner from a correct peer, in the runner's names.
    pub sends: String,
    /// The error that the runner expects; empty if it expects success.
    pub wants: String,
    /// The judgement of each stack's behaviour.
    #[serde(alias = "conducts")]
    #[schemars(extend("x-names" = "/shims"))]
    pub judgements: Vec<Judgement>,
    /// The reason of the first stack that has one.
    pub why: String,
    /// The cause of the defect of each stack; `None` for a stack without a defect. A failure without an explanation is
    /// its own cause.
    #[serde(default)]
    #[schemars(extend("x-names" = "/shims"))]
    pub causes: Vec<Option<String>>,
}
