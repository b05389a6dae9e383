//! What a run says: a summary computed from its manifest and samples, the document made of it, and the
//! forms of that document.
//!
//! Each kind of run has a module with its summary and its [`Report`]; [`Document`] is what a report is
//! before it has a form, and [`FORMS`] are the forms, each a function from a document to bytes. None of
//! them reads what another wrote.
//!
//! This crate must never touch a file or a terminal. Start reading at [`Document`], then
//! [`summarize`] and [`ConnectReport`].

mod bogo;
mod cell;
mod connect;
mod document;
mod evaluation;
mod explain;
mod forms;
mod run;
mod runs;
mod scan;
mod schemas;
mod suite;
mod text;

pub use cell::{Cell, Digits, Number};
pub use connect::{
    ColdAgainst, ColdCauses, ColdRow, ColdStep, Comparison, ConnectReport, ConnectSummary,
    Exclusion, FailureRow, Head, NegotiatedRow, OnceCost, OnceInterval, PhaseRow, ShareRow,
    SiteRow, SiteTally, UnsupportedRow, summarize,
};
pub use document::{
    Align, Bar, BarGroup, Bars, Chart, Check, CheckSuite, Checked, Column, Document, Dot, Dots,
    Drawing, Ecdf, Excerpt, Extent, Item, Machine, Matrix, MatrixRow, Points, Report, Scatter,
    Section, Series, Table,
};
pub use evaluation::{
    Answer, Asked, Evaluation, EvaluationReport, Found, KeyFigure, Question, evaluation, lacking,
    losses,
};
pub use explain::{
    AgainstRow, CharacteristicRow, ConditionRow, ExplainSummary, Explanation, HeapRow, ModeCause,
    SharedRow, explain,
};
pub use forms::{FORMS, Form, Goes, Needs, Options, Style, Takes, form};
pub use run::RunHead;
pub use runs::{RunRow, RunsSummary};
pub use scan::{HelloReport, ScanHead, ScanSummary, summarize_scan};
pub use schemas::{Schema, schemas};
pub use suite::{
    CaseRow, CaseVerdict, CompareSummary, Compared, ComparedCase, Difference, PublishedRow,
    PublishedTable, Regression, StackFigures, SuiteFailure, SuiteHead, SuiteReport, SuiteSummary,
    compare_runs_of_suite, compare_stacks_of_suite, decided, summarize_suite,
};
