//! Connections to real servers: one hello, one answer, within limits.

mod ask;
mod fleet;
mod full;
mod intolerance;
mod limits;
mod more;
mod seen;
mod site;
mod wire;

pub use fleet::{Event, scan_all};
pub use limits::{Limits, Part, Target, raise_descriptor_limit};
