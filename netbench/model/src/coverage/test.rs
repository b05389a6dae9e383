use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::named::named;

/// The version of the runner, identified by the package of its source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RunnerId {
    /// The package on crates.io.
    pub package: String,
    /// The version of the package.
    pub version: String,
    /// The SHA-256 of the package, as Cargo pins it.
    pub checksum: String,
}

named!(
    /// The outcome of a test of the runner.
    TestOutcome, "outcome", {
        /// The result is as the runner expects.
        Passed = "passed",
        /// The result is different.
        Failed = "failed",
        /// The shim reported that its library does not support the test.
        Unsupported = "unsupported",
    }
);

/// The end of the shim's process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// The process exited.
    Exited,
    /// A signal ended the process; the text is Go's description.
    Crashed(String),
    /// The process hung, and the runner killed it.
    Hung,
}

named!(
    /// The kind of reason for a failure.
    Category, "kind of reason", {
        /// The library lacks the feature, and no flag informs the shim that the test needs it: counts as unsupported.
        Missing = "missing",
        /// The library violates the specification.
        Defect = "defect",
        /// The library behaves in another way that the specification allows.
        Choice = "choice",
        /// The library refuses correctly, with a different alert or error.
        Wording = "wording",
        /// The test is about BoringSSL itself (its defaults, its limits, its interface): counts as
        /// unsupported.
        Boringssl = "boringssl",
        /// The result of the test is random, because the test shuffles what it sends.
        Chance = "chance",
        /// The behaviour of the library crashes the runner, so the test is not run: counts as unsupported.
        Runner = "runner",
    }
);
