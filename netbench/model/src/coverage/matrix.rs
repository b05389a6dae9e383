use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Protocol, Role, RunnerId};
use crate::named::named;

named!(
    /// The degree to which a stack supports a feature.
    Support, "support", {
        /// Every test of the feature passes, except tests that fail because another feature is missing.
        Works = "works",
        /// The same as `Works`, but only if an application enables the feature.
        OffByDefault = "off by default",
        /// The tests of the feature's core pass, and other tests do not.
        Partly = "in part",
        /// No test of the feature's core passes.
        Absent = "absent",
        /// The shim cannot request or observe the feature.
        NotTestable = "not testable",
    }
);

/// The feature that stands for the protocol itself. A stack without it has no other feature over that protocol.
pub const HANDSHAKE: &str = "Handshake";

/// The support of each stack for each feature, by protocol and role.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Matrix {
    /// The runner.
    pub runner: RunnerId,
    /// The stacks' shims, in the order of the cells.
    pub shims: Vec<String>,
    /// One cell for each feature, role and protocol with tests.
    pub cells: Vec<MatrixCell>,
    /// Warnings for the reader.
    pub warnings: Vec<String>,
}

/// One feature in one role over one protocol.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MatrixCell {
    /// The feature.
    #[schemars(extend("x-key" = "item"))]
    pub feature: String,
    /// The role of the stack.
    pub role: Role,
    /// The protocol.
    pub protocol: Protocol,
    /// The support of each shim's stack, in the order of the shims.
    #[schemars(extend("x-names" = "/shims"))]
    pub stacks: Vec<StackSupport>,
}

/// The support of one stack for a feature.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StackSupport {
    /// The degree of support.
    pub support: Support,
    /// Number of tests that expect success and passed.
    pub passed: usize,
    /// Number of tests that expect success and count against the feature.
    pub against: usize,
    /// Number of tests that expect success and did not pass because another feature is missing, or by a permitted
    /// choice of the library.
    pub apart: usize,
    /// Every cause of tests that count against a feature in part, or the first cause why a feature is absent, cannot be
    /// tested or is off by default.
    pub why: Option<String>,
}
