//! Connections to real servers: one hello, one answer, within limits.

mod features;
mod findings;
mod intolerance;
mod limits;
mod pace;
mod prober;
mod scan_all;
mod sessions;
mod site;
mod wire;

pub use limits::{Limits, ScanPart, ScanTarget, raise_descriptor_limit};
pub use scan_all::{ScanEvent, scan_all};
