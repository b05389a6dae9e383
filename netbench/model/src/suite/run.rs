use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Kind, Manifest, Plan, StackName};

use super::Scenario;

/// What a run of the suite was to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SuitePlan {
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
    /// The shortest time that the measured operations of a turn take the fastest stack, in microseconds; in runs without
    /// `turn_operations`, the length of a turn.
    pub slice_us: u64,
    /// The fewest measured operations of a turn. All stacks do equally many. None in runs whose turns ended by time.
    #[serde(default)]
    pub turn_operations: Option<u32>,
    /// The core that workers are held to.
    pub pin: PinRecord,
    /// The layout of workers' memory.
    pub layout: LayoutRecord,
    /// What the reference loops take on this processor when it is idle, as earlier runs found it;
    /// none where there was no earlier run.
    #[serde(default)]
    pub idle: Option<IdleReference>,
    /// The same beside each stack, as earlier runs of that stack found it.
    #[serde(default)]
    pub idle_beside: BTreeMap<StackName, IdleReference>,
    /// SHA-256 of the certificates and keys, in hexadecimal.
    pub pki_sha256: String,
}

/// What the reference loops take when nothing disturbs them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct IdleReference {
    /// The chain of multiplications, in nanoseconds.
    pub integer_ns: f64,
    /// AES rounds, in nanoseconds.
    pub aes_ns: f64,
    /// Dependent loads, in nanoseconds.
    pub memory_ns: f64,
}

/// The layout of the memory of workers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LayoutRecord {
    /// The same in every process (ASLR off).
    Fixed,
    /// Random as the system has it (ASLR).
    Random,
    /// Another one in every process: ASLR on, and stack and heap begin a random amount further on.
    Varied,
}

impl Plan for SuitePlan {
    const KIND: Kind = Kind::new("suite");
}

/// The manifest of a run of the suite.
pub type SuiteManifest = Manifest<SuitePlan>;

impl SuitePlan {
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
