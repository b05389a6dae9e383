//! Reports of a run of `connect`: its summary, computed from its manifest and samples, and its report.
//!
//! Start reading at [`summarize`], then [`ConnectSummary`]; `document.rs` makes the report.

mod charts;
mod checks;
mod cold;
mod compare;
mod differences;
mod document;
mod early_data;
mod ech;
mod failures;
mod losses;
mod pairs;
mod runs;
mod runs_document;
mod shares;
mod site_phases;
mod summarize;
mod summary;
mod sweep;
mod tables;
mod warnings;

pub use cold::{ColdAgainst, ColdCauses, ColdRow, ColdStep, OnceCost, OnceInterval};
pub use document::ConnectReport;
pub use early_data::EarlyDataRow;
pub use ech::EchRow;
pub use losses::LossSummary;
pub use runs::{
    ChangedSite, ConnectComparison, PhaseChange, PhaseOfRuns, ReachChange, SiteOfRuns,
    StacksOfRuns, compare_runs_of_connect,
};
pub use summarize::summarize;
pub use summary::{
    Comparison, ConnectSummary, Exclusion, FailureRow, Head, NegotiatedRow, PhaseOf, PhaseRow,
    ShareRow, SiteOf, SitePhase, SiteRow, SiteTally, UnsupportedRow,
};
pub use sweep::{
    ChainSizes, Compressed, DifferenceParts, Fit, FlightDirection, FlightStep, PointOf, Predicted,
    StepOf, SweepDifference, SweepStep, SweepSummary, SweepTime, SweepTurn,
};

pub(crate) use cold::{
    cold, first_cost, first_longer, items as cold_items, not_measurable, sentence as cold_sentence,
};
pub(crate) use compare::compare;
pub(crate) use pairs::{Matched, Times, latest, match_up, median_of};
pub(crate) use shares::{class, rtt_class, rtts};
pub(crate) use summarize::{head, other_work};
