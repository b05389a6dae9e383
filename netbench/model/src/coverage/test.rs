use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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

/// How a test of the runner went.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum TestOutcome {
    /// As the runner wants it.
    Passed,
    /// Otherwise.
    Failed,
    /// The shim said that its library cannot express what the test asks for.
    Unsupported,
}

impl TestOutcome {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Passed, Self::Failed, Self::Unsupported];

    /// The word for it in JSON, in CSV and in stored outcomes.
    pub fn name(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Unsupported => "unsupported",
        }
    }
}

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

/// What kind of reason there is for a failure.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Category {
    /// The library has no such feature, and no flag tells the shim that the test needs it: counts as
    /// unsupported.
    Missing,
    /// The library violates the specification.
    Defect,
    /// The library behaves in another way that the specification allows.
    Choice,
    /// The library refuses as it must, with another alert or error.
    Wording,
    /// The test is about BoringSSL itself (its defaults, its limits, its interface): counts as
    /// unsupported.
    Boringssl,
    /// The test passes or fails by chance, because it shuffles what it sends.
    Chance,
    /// What the library does makes the runner itself crash, so the test is not run: counts as
    /// unsupported.
    Runner,
}

impl Category {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Missing,
        Self::Defect,
        Self::Choice,
        Self::Wording,
        Self::Boringssl,
        Self::Chance,
        Self::Runner,
    ];

    /// The word that begins a reason.
    pub fn name(self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::Defect => "defect",
            Self::Choice => "choice",
            Self::Wording => "wording",
            Self::Boringssl => "boringssl",
            Self::Chance => "chance",
            Self::Runner => "runner",
        }
    }
}
