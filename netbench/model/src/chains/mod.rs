//! Certificate chains, what a verifier should say of each, and what the stacks' own verifiers said.

mod reason;
mod run;

pub use reason::{Disagreement, ReasonSpec};
pub use run::{
    ChainCase, ChainOutcome, ChainSample, ChainsManifest, ChainsPlan, Due, SuiteOfChains,
};
