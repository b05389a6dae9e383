//! Reports of a run of `compat`: the changes for the users of a client with each stack, and every case.

mod cause;
mod document;
mod embedder;
mod outside;
mod summary;

pub use outside::{CompatDisagreement, Stance};
pub use summary::*;
