//! Reports of a scan: the sites, the losses of a change of stack, and the population.

mod certificates;
mod diff;
mod document;
mod hello;
pub(crate) mod loss;
mod many;
mod policy;
mod sample;
mod summary;
mod trips;

pub use diff::{ChangedScan, ScanDiff, ScanOfDiff, diff_scans};
pub use hello::HelloReport;
pub use many::{AlikeSites, ManySites, PartialSites, Support};
pub use summary::{ScanHead, ScanSummary, summarize_scan};
