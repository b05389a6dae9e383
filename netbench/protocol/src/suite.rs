use std::collections::BTreeMap;

use netbench_model::{Measure, Negotiated, ReferenceFigures, Scenario};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A scenario of the in-memory suite to set up.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Prepare {
    /// Which of the worker's stacks.
    pub stack: String,
    /// What is to be done.
    pub scenario: Scenario,
    /// Certificates and keys.
    pub material: Material,
}

/// What a scenario is done with. What it does not need is empty.
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

/// What the first run of a scenario agreed on.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Prepared {
    /// As the client saw it, where there are sessions.
    pub client: Option<Negotiated>,
    /// As the server saw it.
    pub server: Option<Negotiated>,
}

/// A turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Slice {
    /// When it ends.
    pub limit: SliceLimit,
    /// Which clocks are read.
    pub clocks: Clocks,
    /// Operations that are timed together, where the clock is read around several: those that take less than a microsecond.
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

/// When a turn ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SliceLimit {
    /// With the first operation that ends after so many microseconds.
    Microseconds(u64),
    /// After so many timings, each of one operation or of one batch.
    Operations(u32),
}

/// Which clocks are read around each operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Clocks {
    /// The wall clock, which costs 20 to 40 ns.
    Wall,
    /// The thread's CPU clock, which costs a system call.
    Cpu,
}

/// What a turn measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Sliced {
    /// Operations, or batches of them, each with one timing for each measure; with threads, operations on all of them
    /// together.
    pub operations: u32,
    /// Operations in each timing. A worker that times each by itself may leave it out, whatever it was asked for.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub batch: u32,
    /// The timings of each measure, in nanoseconds of the clock that was asked for.
    pub timings_ns: BTreeMap<Measure, Vec<u64>>,
    /// What the reference loops took between the operations; none where they were not run, as with
    /// threads or in a turn of counted operations.
    #[serde(default)]
    pub reference: Option<ReferenceFigures>,
    /// Handshakes made.
    pub handshakes: u32,
    /// Of those, resumed as the client saw it.
    pub client_resumed: u32,
    /// Of those, resumed as the server saw it.
    pub server_resumed: u32,
}

impl Default for Sliced {
    fn default() -> Self {
        Self {
            operations: 0,
            batch: 1,
            timings_ns: BTreeMap::new(),
            reference: None,
            handshakes: 0,
            client_resumed: 0,
            server_resumed: 0,
        }
    }
}

/// Sessions to hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Hold {
    /// Sessions: half of them clients, half servers.
    pub sessions: u32,
}
