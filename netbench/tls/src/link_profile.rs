use std::{fmt, time::Duration};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::BitRate;

/// The emulated path between the client and one site, the same in both directions.
///
/// A packet first waits in the queue of the bottleneck (`rate`, `queue`), then travels for `rtt / 2` plus its share of
/// `jitter`. Packets of one direction never overtake each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct LinkProfile {
    /// Round-trip time: half of it in each direction, in nanoseconds.
    pub rtt_ns: u64,
    /// Maximum extra one-way delay of a packet, drawn uniformly from 0 to this value, in nanoseconds.
    pub jitter_ns: u64,
    /// The share of packets lost, in each direction.
    pub loss: LossRate,
    /// The bottleneck's rate, in each direction; `None` for no limit.
    pub rate: Option<BitRate>,
    /// The rate from the client to the site, if different.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_up: Option<BitRate>,
    /// Maximum number of packets that wait at the bottleneck before the link drops new arrivals.
    pub queue: Queue,
    /// The server's initial congestion window; `None` for the kernel's default of 10 segments (RFC 6928).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<Window>,
    /// The client's initial congestion window towards the site, with the same default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window_up: Option<Window>,
}

impl LinkProfile {
    /// Returns the round-trip time.
    pub fn rtt(&self) -> Duration {
        Duration::from_nanos(self.rtt_ns)
    }

    /// Returns the maximum delay of a packet beyond half of the round-trip time.
    pub fn jitter(&self) -> Duration {
        Duration::from_nanos(self.jitter_ns)
    }
}

/// A share of packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct LossRate {
    /// Lost packets per million.
    pub parts_per_million: u32,
}

impl fmt::Display for LossRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}%", f64::from(self.parts_per_million) / 10_000.0)
    }
}

/// The length of a bottleneck's queue, in packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Queue {
    /// Number of packets.
    pub packets: u32,
}

/// An initial congestion window, in segments.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct Window {
    /// Number of segments.
    pub segments: u32,
}

impl Default for Window {
    fn default() -> Self {
        Self { segments: 10 }
    }
}

impl Default for Queue {
    fn default() -> Self {
        Self { packets: 1000 }
    }
}
