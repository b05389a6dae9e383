//! Chains for verifiers, without a server: those of BetterTLS, and netbench's own.

mod bettertls;
mod own;
mod reasons;

use netbench_model::chains::ChainCase;
use netbench_protocol::ChainToVerify;

pub use bettertls::{BETTERTLS, BetterTls, EXPORTER};
pub use own::{OWN, own};
pub use reasons::reasons;

/// A case, with its input for a verifier.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chain {
    /// Its name, and the correct verdict of a verifier.
    pub case: ChainCase,
    /// The chain.
    pub question: ChainToVerify,
}
