//! Reports of a run of `compat roots`: the CAs that clients trust by default, with the trust stores of many
//! systems.

mod changes;
mod document;
mod summary;

pub use summary::*;
