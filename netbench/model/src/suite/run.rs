use std::{collections::BTreeMap, time::Duration};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Kind, Manifest, Plan, Scenario, StackName};

/// The plan of a run of the suite.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SuitePlan {
    /// The seed of the order of scenarios and stacks.
    pub seed: u64,
    /// The stacks. Each is compared with the first.
    pub stacks: Vec<StackName>,
    /// The preset, if any.
    pub preset: Option<String>,
    /// The scenarios.
    pub scenarios: Vec<Scenario>,
    /// Maximum number of rounds.
    pub rounds: u32,
    /// Whether a scenario ends as soon as all its verdicts are decided.
    pub until_decided: bool,
    /// The wall time after which no round starts, in milliseconds; only with `until_decided`.
    pub budget_ms: Option<u64>,
    /// Duration of each stack's work on a scenario in a round, in milliseconds.
    pub trial_ms: u64,
    /// Minimum duration of the measured operations of a turn of the fastest stack, in microseconds; in runs without
    /// `turn_operations`, the length of a turn.
    pub slice_us: u64,
    /// Minimum number of measured operations of a turn, which is the same for all stacks. `None` in runs whose turns
    /// ended by time.
    #[serde(default)]
    pub turn_operations: Option<u32>,
    /// The core to which workers are pinned.
    pub pin: PinRecord,
    /// The memory layout of the workers.
    pub layout: LayoutRecord,
    /// Durations of the reference loops on this processor when idle, as earlier runs measured them; `None` if there was
    /// no earlier run.
    #[serde(default)]
    pub idle: Option<IdleReference>,
    /// Durations of the reference loops beside each stack when idle, as earlier runs of that stack measured them.
    #[serde(default)]
    pub idle_beside: BTreeMap<StackName, IdleReference>,
    /// SHA-256 of the certificates and keys, in hexadecimal.
    pub pki_sha256: String,
}

/// Durations of the reference loops without disturbance.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct IdleReference {
    /// The chain of multiplications, in nanoseconds.
    pub integer_ns: f64,
    /// AES rounds, in nanoseconds.
    pub aes_ns: f64,
    /// Dependent loads, in nanoseconds.
    pub memory_ns: f64,
}

/// A memory layout of workers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LayoutRecord {
    /// The same layout in every process (ASLR off).
    Fixed,
    /// A random layout, as the system's default (ASLR).
    Random,
    /// A different layout in every process: ASLR on, and stack and heap start at an additional random offset.
    Varied,
}

impl Plan for SuitePlan {
    const KIND: Kind = Kind::new("suite");

    fn random_seed(&self) -> Option<u64> {
        Some(self.seed)
    }
}

/// The manifest of a run of the suite.
pub type SuiteManifest = Manifest<SuitePlan>;

impl SuitePlan {
    /// Returns whether workers were pinned to a core.
    pub fn is_pinned(&self) -> bool {
        self.core().is_some()
    }

    /// Returns the core to which workers are pinned, if any.
    pub fn core(&self) -> Option<u32> {
        match self.pin {
            PinRecord::Core(core) => Some(core),
            PinRecord::Free => None,
        }
    }

    /// Returns the time that each stack works on a scenario in a round.
    pub fn trial(&self) -> Duration {
        Duration::from_millis(self.trial_ms)
    }

    /// Returns the minimum duration of the measured operations of a turn of the fastest stack.
    pub fn slice(&self) -> Duration {
        Duration::from_micros(self.slice_us)
    }

    /// Returns the wall time after which no round starts, if it is limited.
    pub fn budget(&self) -> Option<Duration> {
        self.budget_ms.map(Duration::from_millis)
    }
}

/// The cores on which workers run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PinRecord {
    /// The given core.
    Core(u32),
    /// Any core that the kernel chooses.
    Free,
}
