//! Visits of browsers to sites: the plan of a run, and the outcome of each visit.

mod plan;
mod visit;

pub use netbench_tls::{ObjectsPage, PageRequest};

pub use plan::{BrowserManifest, BrowserPlan, BrowserRecord, Sandbox};
pub use visit::{
    Attempt, Departures, Mark, ObjectsLoad, OnTheLink, Scheduled, Visit, VisitOutcome, VisitSample,
    VisitTimes,
};
