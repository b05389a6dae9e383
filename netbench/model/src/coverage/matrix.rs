use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Protocol, Role, RunnerId};
use crate::named::named;

named!(
    /// What a stack has of a feature.
    Support, "support", {
        /// Every test that is about it passes, but for those that fail for want of something else.
        Works = "works",
        /// As before, once an application turns it on: the library does not offer it unasked.
        OffByDefault = "off by default",
        /// The tests of its core pass, and others do not.
        Partly = "in part",
        /// No test of its core passes.
        Absent = "absent",
        /// The shim has no way to ask for it, or to see it.
        NotTestable = "not testable",
    }
);

/// The feature that is the protocol itself: a stack without it has no other over that protocol.
pub const HANDSHAKE: &str = "Handshake";

/// Features by protocol and role: what each stack has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Matrix {
    /// The runner.
    pub runner: RunnerId,
    /// The stacks' shims, in the order of the cells.
    pub shims: Vec<String>,
    /// One for each feature, role and protocol that there are tests of.
    pub cells: Vec<MatrixCell>,
    /// What a reader has to know.
    pub warnings: Vec<String>,
}

/// One feature in one role over one protocol.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MatrixCell {
    /// The feature.
    pub feature: String,
    /// Which side the stack is.
    pub role: Role,
    /// The protocol.
    pub protocol: Protocol,
    /// What each shim's stack has, in their order.
    pub stacks: Vec<StackSupport>,
}

/// What one stack has of a feature.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StackSupport {
    /// The sum of it.
    pub support: Support,
    /// Tests that expect success, and passed.
    pub passed: usize,
    /// Such tests that count against the feature.
    pub against: usize,
    /// Such tests that did not pass for want of something else, or for a decision that a library may take.
    pub apart: usize,
    /// Every cause of tests that count against a feature in part, or the first cause why a feature is absent, cannot be
    /// tested or is off by default.
    pub why: Option<String>,
}
