//! Visits of browsers to sites: what was to be done, and what came of each visit.

mod plan;
mod visit;

pub use plan::{BrowserManifest, BrowserPlan, BrowserRecord, Sandbox};
pub use visit::{Attempt, Departures, OnTheLink, Visit, VisitOutcome, VisitSample, VisitTimes};
