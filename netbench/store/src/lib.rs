//! Run folders: `run.json` (the manifest), records such as `samples.jsonl` (append-only; packed, `samples.jsonl.zst`),
//! and the reports.
//!
//! This crate must never compute anything from samples, and never overwrite one: measurements are kept for ever, in
//! their original order. Start reading at [`RunFolder`].

mod atomic;
mod error;
mod folder;
mod index;
mod pack;
mod records;

pub use error::StoreError;
pub use folder::{Head, RunFolder};
pub use index::Index;
pub use pack::Packed;
pub use records::{Appender, Repeated, read_file};
