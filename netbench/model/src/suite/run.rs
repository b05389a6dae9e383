use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Environment, StackName, WorkerRecord};

use super::Scenario;

/// What a `suite` run was: its `run.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SuiteManifest {
    /// [`crate::SCHEMA_VERSION`] of the writer.
    pub schema: u32,
    /// Always `suite`; the manifests of `connect` have none.
    pub kind: String,
    /// The version of netbench.
    pub netbench: String,
    /// The run's name: its folder's.
    pub name: String,
    /// Start, RFC 3339, UTC.
    pub started: String,
    /// End, RFC 3339, UTC; none while it runs or after a kill.
    pub finished: Option<String>,
    /// What was to be done.
    pub suite: SuitePlanRecord,
    /// The processes that measured.
    pub workers: Vec<WorkerRecord>,
    /// The machine.
    pub environment: Environment,
    /// The parts in which it was run.
    pub sessions: Vec<SuiteSession>,
    /// What a reader must know before quoting a figure.
    pub warnings: Vec<String>,
}

/// What was to be done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SuitePlanRecord {
    /// The order of scenarios and stacks comes from it.
    pub seed: u64,
    /// The stacks; the first is what the others are compared with.
    pub stacks: Vec<StackName>,
    /// The preset, where one was asked for.
    pub preset: Option<String>,
    /// The scenarios.
    pub scenarios: Vec<Scenario>,
    /// Rounds: the most that there may be.
    pub rounds: u32,
    /// Whether a scenario ends as soon as all its verdicts are decided.
    pub until_decided: bool,
    /// The wall time after which no round begins, in milliseconds; only with `until_decided`.
    pub budget_ms: Option<u64>,
    /// How long each stack works on a scenario in a round, in milliseconds.
    pub trial_ms: u64,
    /// How long before the other stack's turn, in microseconds.
    pub slice_us: u64,
    /// The core that workers are held to.
    pub pin: PinRecord,
    /// The layout of workers' memory.
    pub layout: LayoutRecord,
    /// SHA-256 of the certificates and keys, in hexadecimal.
    pub pki_sha256: String,
}

/// The layout of the memory of workers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LayoutRecord {
    /// The same in every process (ASLR off).
    Fixed,
    /// Random: the system does not permit a fixed one, or it was not wanted.
    Random,
}

impl SuitePlanRecord {
    /// Whether workers' memory was always laid out alike.
    pub fn layout_is_fixed(&self) -> bool {
        self.layout == LayoutRecord::Fixed
    }

    /// Whether workers were held to a core.
    pub fn is_pinned(&self) -> bool {
        matches!(self.pin, PinRecord::Core(_))
    }
}

/// Where workers run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PinRecord {
    /// On this core.
    Core(u32),
    /// Wherever the kernel puts them.
    Free,
}

/// One part of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SuiteSession {
    /// Start, RFC 3339, UTC.
    pub started: String,
    /// End, RFC 3339, UTC; none after a kill.
    pub finished: Option<String>,
    /// The command line.
    pub command: Vec<String>,
    /// Whether it was ended early.
    pub interrupted: bool,
}
