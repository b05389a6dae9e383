use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Protocol, Role, RunnerId};
use crate::named::named;

named!(
    /// What a stack did in a test.
    Conduct, "conduct", {
        /// What the test wants.
        Right = "right",
        /// It accepted what must be refused.
        Accepted = "accepted",
        /// It refused what must be accepted.
        Refused = "refused",
        /// Its process crashed.
        Crashed = "crashed",
        /// It hung, and was ended.
        Hung = "hung",
        /// Something else, for a reason that is no defect.
        Excused = "excused",
        /// The shim has no way to run the test.
        NotRun = "not run",
    }
);

impl Conduct {
    /// Whether it is a defect.
    pub fn is_defect(self) -> bool {
        matches!(
            self,
            Self::Accepted | Self::Refused | Self::Crashed | Self::Hung
        )
    }
}

/// Tests in which a stack does what it must not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Defects {
    /// The runner.
    pub runner: RunnerId,
    /// The stacks' shims, in the order of the conducts.
    pub shims: Vec<String>,
    /// Tests that all of them run.
    pub run_by_all: usize,
    /// How many of those are defects of each.
    pub among_those: Vec<usize>,
    /// How many of all that it runs are defects of each.
    pub among_all: Vec<usize>,
    /// How many causes those in the tests that all of them run have. Empty in a record that does not count causes.
    #[serde(default)]
    pub causes_among_those: Vec<usize>,
    /// How many causes the defects in all tests that it runs have.
    #[serde(default)]
    pub causes_among_all: Vec<usize>,
    /// The tests, those with the same reason together.
    pub tests: Vec<DefectTest>,
    /// What a reader has to know.
    pub warnings: Vec<String>,
}

/// A test in which at least one stack does what it must not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DefectTest {
    /// The runner's name for it.
    pub test: String,
    /// Which side the stack is.
    pub role: Role,
    /// The protocol; none where there is no such protocol.
    pub protocol: Option<Protocol>,
    /// What the runner does that a good peer would not, in its own names.
    pub sends: String,
    /// The error that it waits for; empty where it wants success.
    pub wants: String,
    /// What each stack did.
    pub conducts: Vec<Conduct>,
    /// The reason, of the first stack that has one.
    pub why: String,
    /// The cause of the defect of each stack; none for a stack without one. A failure that nothing explains is its own.
    #[serde(default)]
    pub causes: Vec<Option<String>>,
}
