use std::collections::BTreeMap;

use netbench_tls::{Measure, Negotiated, ReferenceFigures, Scenario, Timing, is_default};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A scenario of the in-memory suite to set up.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Prepare {
    /// The stack of the worker.
    pub stack: String,
    /// The scenario.
    pub scenario: Scenario,
    /// Certificates and keys.
    pub material: Material,
}

/// The certificates and keys of a scenario. Unneeded fields are empty.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Material {
    /// The name that the server's certificate is for.
    pub host: String,
    /// The server's chain, the leaf first, as PEM.
    pub chain_pem: String,
    /// The server's key, PKCS#8 as PEM.
    pub key_pem: String,
    /// The client's chain, as PEM.
    pub client_chain_pem: String,
    /// The client's key, PKCS#8 as PEM.
    pub client_key_pem: String,
    /// Trust roots of both sides, as PEM.
    pub roots_pem: String,
    /// The operating system's bundle of trust roots.
    pub native_path: Option<String>,
}

/// The negotiated parameters of the first run of a scenario.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Prepared {
    /// The client's report, if the scenario has sessions.
    pub client: Option<Negotiated>,
    /// The server's report, if the scenario has sessions.
    pub server: Option<Negotiated>,
    /// The timing of the slices. A worker that does not know timings omits it, and times the whole work.
    #[serde(default, skip_serializing_if = "is_default")]
    pub timing: Timing,
}

/// A turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Slice {
    /// The end of the turn.
    pub limit: SliceLimit,
    /// The clock that times operations.
    pub clocks: Clocks,
    /// Number of operations that are timed together. Operations of less than a microsecond are timed in batches.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub batch: u32,
}

fn one() -> u32 {
    1
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
fn is_one(batch: &u32) -> bool {
    *batch == 1
}

/// The end of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SliceLimit {
    /// The first operation that ends after the given number of microseconds.
    Microseconds(u64),
    /// The given number of timings, each of one operation or of one batch.
    Operations(u32),
}

/// The clock that times each operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Clocks {
    /// The wall clock, whose reading takes 20 to 40 ns.
    Wall,
    /// The thread's CPU clock, whose reading takes a system call.
    Cpu,
}

/// The results of a turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Sliced {
    /// Number of operations, or of batches, each with one timing for each measure; with threads, the number of
    /// operations on all threads together.
    pub operations: u32,
    /// Number of operations in each timing. A worker that times each operation separately may omit the field, whatever
    /// the request.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub batch: u32,
    /// The timings of each measure, in nanoseconds of the requested clock.
    pub timings_ns: BTreeMap<Measure, Vec<u64>>,
    /// Durations of the reference loops between the operations; `None` if the loops were not run, as with threads or in
    /// a turn of counted operations.
    #[serde(default)]
    pub reference: Option<ReferenceFigures>,
    /// Number of minor page faults of the thread during the turn; absent if they were not counted, as with threads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub minor_faults: Option<u64>,
    /// Number of handshakes.
    pub handshakes: u32,
    /// Number of those handshakes that were resumed, as the client reports.
    pub client_resumed: u32,
    /// Number of those handshakes that were resumed, as the server reports.
    pub server_resumed: u32,
}

impl Default for Sliced {
    fn default() -> Self {
        Self {
            operations: 0,
            batch: 1,
            timings_ns: BTreeMap::new(),
            reference: None,
            minor_faults: None,
            handshakes: 0,
            client_resumed: 0,
            server_resumed: 0,
        }
    }
}

/// Number of sessions to hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Hold {
    /// Number of sessions: half of them clients, half servers.
    pub sessions: u32,
}
