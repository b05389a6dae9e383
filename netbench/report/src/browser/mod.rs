//! What a run of `browser` says: what visits took, what became of those that failed, how far the browsers' own times
//! are from their packets, and where else they tried to go.

mod document;
mod summarize;
mod summary;

pub use summarize::summarize_browser;
pub use summary::{
    AttemptRow, BrowserHead, BrowserSummary, ClientRow, FarVisit, ObjectsRow, PacketsRow,
    VisitComparison, VisitFailure, VisitNegotiated, VisitPhase, VisitPhaseRow, VisitUnsupported,
};
