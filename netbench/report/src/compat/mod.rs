//! Reports of a run of `compat`: the changes for the users of a client with each stack, and every case.

mod cause;
mod document;
mod embedder;
mod outside;
mod summary;

pub(crate) use outside::BESIDE;
pub use outside::{CompatDisagreement, Stance};
pub use summary::{
    CompatCell, CompatDifference, CompatHead, CompatRow, CompatStack, CompatSummary, CompatTotals,
    summarize_compat,
};
