//! What a run of `browser` says: what visits took, what became of those that failed, how far the browsers' own times
//! are from their packets, and where else they tried to go.

mod document;
mod summary;

pub use summary::{
    AttemptRow, BrowserHead, BrowserSummary, ClientRow, FarVisit, PacketsRow, VisitComparison,
    VisitFailure, VisitNegotiated, VisitPhase, VisitPhaseRow, summarize_browser,
};
