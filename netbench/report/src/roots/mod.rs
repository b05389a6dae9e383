//! What a run of `compat roots` says: what clients trust by themselves, with the trust stores of many systems.

mod document;
mod summary;

pub use summary::{RootsHead, RootsRow, RootsSummary, RootsSurprise, Surprise, summarize_roots};
