use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::named::words;

/// What a connection cost its process beyond its phases.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct ProcessCost {
    /// CPU time of the client's thread while the connector was made, in nanoseconds. It is not in
    /// the phases' `cpu_ns`.
    pub connector_cpu_ns: u64,
    /// Pages of memory that the thread had to be given (minor page faults), connector and connection together.
    pub minor_faults: u64,
    /// CPU time of one such fault, in nanoseconds, where steps were taken: pages of the executable that
    /// are in the page cache, touched by the same thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault_ns: Option<u64>,
    /// The steps of the stack's set-up, each done twice before the connector was made.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<StepCost>,
}

/// A step of the set-up: what it took, and what it took right afterwards, when nothing was left to
/// set up. The difference is paid once per process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StepCost {
    /// Which step.
    pub step: SetUpStep,
    /// The first time in the process.
    pub first: Spent,
    /// The second time.
    pub again: Spent,
}

/// What something took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Spent {
    /// Wall clock, in nanoseconds.
    pub wall_ns: u64,
    /// CPU time of the thread, in nanoseconds.
    pub cpu_ns: u64,
    /// Minor page faults of the thread.
    pub minor_faults: u64,
}

words!(
    /// A step that a library takes once per process, before or in its first connection.
    SetUpStep, {
        /// The library's own initialisation and its configuration file.
        Library = "library",
        /// Its cryptographic provider loaded.
        Provider = "provider",
        /// Its random generator seeded.
        Entropy = "entropy",
        /// A TLS context made: the algorithms that TLS has are looked up.
        Context = "context",
        /// Trust roots parsed and put into a store.
        TrustRoots = "trust-roots",
        /// A key share of each group that is sent.
        KeyExchange = "key-exchange",
        /// Signatures verified.
        Signatures = "signatures",
        /// Hashes, key derivation, and records encrypted.
        Records = "records",
        /// A ClientHello made.
        ClientHello = "client-hello",
        /// The runtime, sockets and the HTTP client, without TLS. Not the stack's.
        Http = "http",
    }
);
