//! Connections to real servers: one hello, one response, within limits.

mod again;
mod answers;
mod compression;
pub mod dns;
mod ech;
mod features;
mod findings;
mod hello_limits;
mod hellos;
mod https_record;
mod intolerance;
mod known;
mod limits;
mod names;
mod pace;
mod prober;
mod refusals;
mod retry;
mod scan_all;
mod sessions;
mod site;
mod steadiness;
mod wire;

pub use limits::{Limits, Place, ScanClient, ScanPart, ScanTarget, raise_descriptor_limit};
pub use names::{Lookup, Resolver};
pub use scan_all::{scan_all, scan_all_with};
