use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::named::named;

/// The runner's version, named by the package that its source came in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RunnerId {
    /// The package on crates.io.
    pub package: String,
    /// Its version.
    pub version: String,
    /// The SHA-256 of the package, as Cargo pins it.
    pub checksum: String,
}

named!(
    /// How a test of the runner went.
    TestOutcome, "outcome", {
        /// As the runner wants it.
        Passed = "passed",
        /// Otherwise.
        Failed = "failed",
        /// The shim said that its library cannot express what the test asks for.
        Unsupported = "unsupported",
    }
);

/// How the shim's process ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// By itself.
    Exited,
    /// By a signal, in Go's words for it.
    Crashed(String),
    /// It hung, and the runner ended it.
    Hung,
}

named!(
    /// What kind of reason there is for a failure.
    Category, "kind of reason", {
        /// The library has no such feature, and no flag tells the shim that the test needs it: counts as
        /// unsupported.
        Missing = "missing",
        /// The library violates the specification.
        Defect = "defect",
        /// The library behaves in another way that the specification allows.
        Choice = "choice",
        /// The library refuses as it must, with another alert or error.
        Wording = "wording",
        /// The test is about BoringSSL itself (its defaults, its limits, its interface): counts as
        /// unsupported.
        Boringssl = "boringssl",
        /// The test passes or fails by chance, because it shuffles what it sends.
        Chance = "chance",
        /// What the library does makes the runner itself crash, so the test is not run: counts as
        /// unsupported.
        Runner = "runner",
    }
);
