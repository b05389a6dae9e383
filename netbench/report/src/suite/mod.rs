//! Reports of a run of the in-memory suite.
//!
//! Start reading at [`summarize_suite`], then [`SuiteSummary`].

mod breakdown;
mod cases;
mod charts;
mod checks;
mod compare;
mod compare_document;
mod document;
mod figures;
mod history;
mod joined;
mod joined_document;
mod latency;
mod life;
mod page_faults;
mod preset;
mod published;
mod questions;
mod released;
mod summarize;
mod summary;
mod system_calls;
mod timeline;
mod timeline_document;
mod verdicts;

pub use breakdown::{HandshakeBreakdown, SuiteExplained};
pub use compare::{
    CaseOfSides, CompareSummary, ComparedCase, compare_runs_of_suite, compare_stacks_of_suite,
};
pub use document::SuiteReport;
pub use joined::{JoinedCase, JoinedRun, JoinedSummary, RunSays, join_runs_of_suite};
pub use latency::{LatencyOfThreads, ThreadLatency};
pub use life::{ConnectionLife, StateOfLife};
pub use published::{Agreement, PublishedRow, PublishedTable, Today};
pub use summarize::summarize_suite;
pub use summary::{CaseRow, CaseVerdict, StackFigures, SuiteFailure, SuiteHead, SuiteSummary};
pub use system_calls::SystemCallFigures;
pub use timeline::{HistoryCase, HistoryFigure, HistoryRun, SuiteHistory, history_of_suite};
pub use verdicts::{decided, idle_reference};

pub(crate) use cases::row_name;
pub(crate) use joined::{Verdicts, held_back, joined_cases};
pub(crate) use joined_document::joined_table;
