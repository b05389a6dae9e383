//! What a run of `compat roots` says: what clients trust by themselves, with the trust stores of many systems.

mod changes;
mod document;
mod summary;

use summary::PUBLIC;
pub use summary::{RootsHead, RootsRow, RootsSummary, RootsSurprise, Surprise, summarize_roots};
