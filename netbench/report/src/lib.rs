//! What a run says: a summary computed from its manifest and samples, and that summary in each form.
//!
//! This crate must never touch a file or a terminal: every form is a function that returns bytes.
//! Start reading at [`summarize`], then [`ConnectSummary`]; one module is one form.

mod block;
mod bogo;
mod compare;
mod connect_document;
mod connect_rows;
mod evaluation;
mod explain;
mod failures;
mod latest;
mod pairs;
mod rows;
mod runs;
mod scan;
mod schemas;
mod shares;
mod suite;
mod summary;
mod text;
mod warnings;

pub mod csv;
pub mod json;
pub mod junit;
pub mod markdown;
pub mod page;
pub mod terminal;

pub use block::{Align, Block, Column, Document, Table};
pub use evaluation::{Answer, Evaluation, Found, KeyFigure, Question, evaluation, lacking, losses};
pub use explain::{
    AgainstRow, CharacteristicRow, ConditionRow, ExplainSummary, Explanation, HeapRow, SharedRow,
    explain,
};
pub use rows::Rows;
pub use runs::{RunRow, RunsSummary};
pub use scan::{HelloReport, ScanHead, ScanSummary, summarize_scan};
pub use schemas::{Schema, schemas};
pub use suite::{
    CaseRow, CaseVerdict, CompareSummary, Compared, ComparedCase, Difference, PublishedRow,
    PublishedTable, Regression, StackFigures, SuiteFailure, SuiteHead, SuiteSummary,
    compare_runs_of_suite, compare_stacks_of_suite, decided, summarize_suite,
};
pub use summary::{
    Comparison, ConnectSummary, Exclusion, FailureRow, Head, NegotiatedRow, PhaseRow, ShareRow,
    SiteRow, SiteTally, UnsupportedRow, summarize,
};
