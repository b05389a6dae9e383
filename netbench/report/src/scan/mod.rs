//! What a scan says: of its sites, of what a change of stack would lose, and of the population.

mod document;
mod hello;
mod loss;

mod summary;

pub use hello::HelloReport;
pub use summary::{ScanHead, ScanSummary, summarize_scan};
