use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::is_default;

/// Durations of loops of fixed work that a worker runs between the operations of a turn. The loops measure the current
/// speed of the core independently of the library. Each figure is the 10th percentile over the turn.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReferenceFigures {
    /// Number of executions of each loop.
    pub count: u32,
    /// A chain of multiplications, in nanoseconds.
    pub integer_ns: f64,
    /// AES rounds over a few kilobytes, in nanoseconds.
    pub aes_ns: f64,
    /// Loads that depend on each other, in nanoseconds.
    pub memory_ns: f64,
}

/// The memory of many sessions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Held {
    /// Number of sessions held at the end: half of them are clients' and half are servers', so a figure per session is
    /// half of a client's and a server's together.
    pub sessions: u32,
    /// Peak resident size of the process, bytes.
    pub peak_bytes: u64,
    /// Resident size before the first session, after one pair was made and dropped, in bytes.
    pub before_bytes: u64,
    /// Resident size with all sessions held, in bytes.
    pub after_bytes: u64,
    /// Bytes of tickets that clients received after their handshakes.
    #[serde(default, skip_serializing_if = "is_default")]
    pub ticket_bytes: u64,
    /// Bytes of data that all clients received.
    #[serde(default, skip_serializing_if = "is_default")]
    pub client_data_bytes: u64,
    /// Bytes of data that all servers received.
    #[serde(default, skip_serializing_if = "is_default")]
    pub server_data_bytes: u64,
    /// The function of the library that released the buffers of idle sessions; `None` in any other state, and for a library
    /// that has no such function.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub released_by: Option<String>,
    /// The heap use in a second process, which counts allocations; `None` if they cannot be counted.
    pub heap: Option<HeapUse>,
}

/// The heap use of sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HeapUse {
    /// Number of allocations for all sessions.
    pub allocations: u64,
    /// Bytes that all sessions hold, rounded as by the allocator.
    pub held_bytes: u64,
    /// Maximum number of bytes in use in addition to the initial number.
    pub peak_bytes: u64,
    /// Bytes that were freed when all clients' sessions had been dropped; `None` in samples of earlier versions. Data
    /// that the sessions share, such as a cache of tickets, is in neither this value nor `server_bytes`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_bytes: Option<u64>,
    /// Bytes that were freed when all servers' sessions had then been dropped; `None` in samples of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_bytes: Option<u64>,
}
