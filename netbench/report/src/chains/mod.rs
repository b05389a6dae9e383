//! What a run of `compat chains` says: on which certificate chains the stacks' verifiers disagree, and why.

mod document;
mod summary;

pub use summary::{
    BrokenChain, ChainChange, ChainDifference, ChainKind, ChainTally, ChainsAstray, ChainsHead,
    ChainsSummary, summarize_chains,
};
