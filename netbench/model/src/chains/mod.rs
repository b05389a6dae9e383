//! Certificate chains, the correct verdict on each, and the verdicts of the stacks' verifiers.

mod reason;
mod run;

pub use reason::{Disagreement, ReasonSpec};
pub use run::{
    ChainCase, ChainOutcome, ChainSample, ChainsManifest, ChainsPlan, Due, SuiteOfChains,
};
