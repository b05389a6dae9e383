use netbench_model::{CertificateFault, roots::TrustOrigin};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Chains, each to be verified as a client of the stack would, without a connection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Verify {
    /// Which of the worker's stacks.
    pub stack: String,
    /// Where the roots are from: one of the stack's `trust_sources`, read as its clients read it. None where each chain has
    /// its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trust: Option<String>,
    /// The chains. What is said of one says nothing of the next.
    pub chains: Vec<ChainToVerify>,
}

/// A chain to verify. Certificates are DER in base64.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChainToVerify {
    /// What a server sent, its own certificate first.
    pub chain_base64: Vec<String>,
    /// What is trusted.
    pub roots_base64: Vec<String>,
    /// Lists of revoked certificates (CRLs). Where there are any, every certificate below the root must be covered
    /// by one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub crls_base64: Vec<String>,
    /// The host name or address that was asked for; IPv6 without brackets.
    pub host: String,
    /// When: seconds since 1970.
    pub at_unix_s: u64,
}

/// A client's own trust, as its connector was made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TrustMade {
    /// What making the connector took, the reading of the store included, in nanoseconds.
    pub connector_ns: u64,
    /// How many roots it has read by then, where the library tells.
    #[serde(default)]
    pub roots: Option<u32>,
    /// Where they are from.
    pub origin: TrustOrigin,
}

/// What the stack's verifier says of a chain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "outcome", rename_all = "lowercase")]
pub enum Verified {
    /// It is good.
    Accepted,
    /// It is not.
    Rejected {
        /// Why, in a word that every stack shares.
        reason: CertificateFault,
        /// The library's own words, with escape codes removed.
        detail: String,
    },
    /// It cannot be asked this.
    Unsupported {
        /// Why.
        reason: String,
    },
}
