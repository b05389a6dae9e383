//! What a run says: a summary computed from its manifest and samples, and that summary in each form.
//!
//! This crate must never touch a file or a terminal: every form is a function that returns bytes.
//! Start reading at [`summarize`], then [`ConnectSummary`]; one module is one form.

mod bogo_document;
mod bogo_table;
mod compare;
mod document;
mod failures;
mod latest;
mod pairs;
mod schemas;
mod shares;
mod summary;
mod text;
mod warnings;

pub mod bogo;
pub mod csv;
pub mod json;
pub mod markdown;
pub mod terminal;

pub use schemas::{Schema, schemas};
pub use summary::{
    Comparison, ConnectSummary, Exclusion, FailureRow, Head, NegotiatedRow, PhaseRow, ShareRow,
    SiteRow, SiteTally, UnsupportedRow, summarize,
};
