//! Run folders: `run.json` (the manifest), `samples.jsonl` (append-only), and the reports.
//!
//! This crate must never compute anything from samples, and never overwrite one: what was measured
//! is kept for ever, in the order in which it came. Start reading at [`RunFolder`].

mod atomic;
mod error;
mod folder;
mod samples;

pub use error::StoreError;
pub use folder::{RunFolder, RunKind};
pub use samples::Appender;
