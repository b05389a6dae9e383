//! Reports of a run of `browser features`: the outcomes of browsers with pages that test the features of the web that
//! depend on the network.

mod document;
mod summary;

pub use summary::*;
