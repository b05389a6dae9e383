//! The ways to sites, and the times of transfers over emulated links.

use std::time::Duration;

use netbench_model::{Site, Target};

/// The way in which sites are reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reached {
    /// Emulated links.
    Links,
    /// Loopback on this machine.
    Loopback,
    /// A real network.
    Network,
}

impl Reached {
    /// Returns the way to sites in this location, over the requested link.
    pub(crate) fn of(target: Target, link: Option<&str>) -> Self {
        match (target, link) {
            (Target::Lab, Some("none")) | (Target::Loopback, _) => Self::Loopback,
            (Target::Lab, _) => Self::Links,
            (Target::Live, _) => Self::Network,
        }
    }
}

/// Returns the time of a site's body beyond the round trips of a connection: at the link's rate, or at the rate that
/// TCP reaches with packet loss (Mathis et al.: The macroscopic behavior of the TCP congestion avoidance algorithm,
/// 1997). The loss of one of the first packets costs a second (RFC 6298 section 2.1).
pub(crate) fn transfer(site: &Site) -> Duration {
    const SEGMENT_BYTES: f64 = 1_448.0;
    const FIRST_WINDOW_BYTES: f64 = 10.0 * SEGMENT_BYTES;
    const FIRST_PACKETS: f64 = 3.0;
    let link = &site.lab.link;
    let (bytes, rtt_s) = (site.lab.body_bytes as f64, link.rtt().as_secs_f64());
    let loss = f64::from(link.loss.parts_per_million) / 1e6;
    let at_rate_s = link
        .rate
        .map_or(0.0, |rate| bytes * 8.0 / rate.bits_per_second.max(1) as f64);
    let slow_start_s = rtt_s * (bytes / FIRST_WINDOW_BYTES).max(1.0).log2();
    let lossy_s = bytes / SEGMENT_BYTES * rtt_s * (2.0 * loss / 3.0).sqrt();
    let seconds = at_rate_s.max(slow_start_s).max(lossy_s) + FIRST_PACKETS * loss;
    Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
}
