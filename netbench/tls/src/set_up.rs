use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::named::words;

/// The cost of a connection for its process beyond the phases.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct ProcessCost {
    /// CPU time of the client's thread while the connector was made, in nanoseconds. The phases' `cpu_ns` does not
    /// include it.
    pub connector_cpu_ns: u64,
    /// Number of minor page faults of the thread, for connector and connection together.
    pub minor_faults: u64,
    /// CPU time of one minor page fault, in nanoseconds, if steps were measured: the same thread touches pages of the
    /// executable that are in the page cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault_ns: Option<u64>,
    /// The steps of the stack's set-up, each done twice before the connector was made.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<StepCost>,
}

/// The cost of a step of the set-up, and of an immediate repetition when no set-up remains. The difference is paid once
/// per process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StepCost {
    /// The step.
    pub step: SetUpStep,
    /// The cost of the first execution in the process.
    pub first: Spent,
    /// The cost of the second execution.
    pub again: Spent,
}

/// The cost of an operation.
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
    /// A step of a library that occurs once per process, before or in its first connection.
    #[schemars(extend("x-key" = "item"))]
    SetUpStep, {
        /// Initialisation of the library, including its configuration file.
        Library = "library",
        /// Loading of the cryptographic provider.
        Provider = "provider",
        /// Seeding of the random generator.
        Entropy = "entropy",
        /// Creation of a TLS context, which looks up the algorithms of TLS.
        Context = "context",
        /// Parsing of the trust roots and creation of a store.
        TrustRoots = "trust-roots",
        /// Generation of a key share for each group that the client sends.
        KeyExchange = "key-exchange",
        /// Verification of signatures.
        Signatures = "signatures",
        /// Hashes, key derivation, and encryption of records.
        Records = "records",
        /// Construction of a ClientHello.
        ClientHello = "client-hello",
        /// The runtime, sockets and the HTTP client, without TLS. Not part of the stack.
        Http = "http",
    }
);
