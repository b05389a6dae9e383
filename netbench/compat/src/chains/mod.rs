//! Chains for verifiers, without a server: those of BetterTLS, and netbench's own.

mod bettertls;
mod own;
mod reasons;

use netbench_model::chains::ChainCase;
use netbench_protocol::ChainToVerify;

pub use bettertls::{BETTERTLS, BetterTls, EXPORTER, ExportError};
pub use own::{OWN, own};
pub use reasons::reasons;

/// A case, and what a verifier is asked in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chain {
    /// Its name, and what a verifier should say.
    pub case: ChainCase,
    /// The chain.
    pub question: ChainToVerify,
}
