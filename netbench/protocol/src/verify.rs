use netbench_tls::{CertificateFault, TrustOrigin};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Chains that the stack verifies as a client would, without a connection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Verify {
    /// The stack of the worker.
    pub stack: String,
    /// The source of the roots: one of the stack's `trust_sources`, read as its clients read it. `None` if each chain
    /// has separate roots.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trust: Option<String>,
    /// The chains. The verdict on one chain must not affect the next.
    pub chains: Vec<ChainToVerify>,
}

/// A chain to verify. Certificates are DER in base64.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChainToVerify {
    /// The certificates that a server sent, the leaf first.
    pub chain_base64: Vec<String>,
    /// The trust roots.
    pub roots_base64: Vec<String>,
    /// Lists of revoked certificates (CRLs). If there are any, every certificate below the root must be covered by one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub crls_base64: Vec<String>,
    /// The requested host name or address; IPv6 without brackets.
    pub host: String,
    /// The time of the verification, in seconds since 1970.
    pub at_unix_s: u64,
}

/// The default trust of a client, as its connector was made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TrustMade {
    /// Duration of making the connector, including reading the store, in nanoseconds.
    pub connector_ns: u64,
    /// Number of roots that were read, if the library reports it.
    #[serde(default)]
    pub roots: Option<u32>,
    /// The origin of the roots.
    pub origin: TrustOrigin,
}

/// The verdict of the stack's verifier on a chain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "outcome", rename_all = "lowercase")]
pub enum Verified {
    /// The verifier accepted the chain.
    Accepted,
    /// The verifier rejected the chain.
    Rejected {
        /// The reason, in a word that all stacks share.
        reason: CertificateFault,
        /// The message of the library, without escape codes.
        detail: String,
    },
    /// The stack does not support the verification.
    Unsupported {
        /// The reason.
        reason: String,
    },
}
