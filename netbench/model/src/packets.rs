//! The packets of a trial, as the emulated link observed them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::LinkDirection;

/// The packets of a trial's first connection, as an emulated link in user space counted them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LinkPackets {
    /// Connections that the client opened. The other fields are about the first one.
    pub connections: u32,
    /// SYNs of the client, including retransmissions.
    pub syns: u32,
    /// The time from the client's first SYN to the time at which the answer was due at the client, in nanoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connect_ns: Option<u64>,
    /// Other segments that the client sent again.
    pub resent_up: u32,
    /// Segments that the server retransmitted.
    pub resent_down: u32,
    /// Data that the client sent, in bytes, without retransmissions.
    pub bytes_up: u64,
    /// Data that the server sent, in bytes, without retransmissions.
    pub bytes_down: u64,
    /// The longest time in the handshake from the server's first data after the client's to the client's next data, in
    /// nanoseconds. A verification is within that time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub longest_client_turn_ns: Option<u64>,
    /// Data that was sent only after the arrival of an acknowledgement. The list ends after [`Self::MOST_WAITS`] waits.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waits: Vec<AckWait>,
}

impl LinkPackets {
    /// The maximum number of waits.
    pub const MOST_WAITS: usize = 64;
}

/// A wait of one side, which had sent data, until an acknowledgement without data arrived. The side then sent further
/// data at once, so its congestion window was full or Nagle's algorithm held the data back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AckWait {
    /// The direction of the data that waited.
    pub direction: LinkDirection,
    /// The time since the side had sent its last segment, in nanoseconds.
    pub wait_ns: u64,
    /// The time that the other side delayed the acknowledgement after the segment was due there, in nanoseconds.
    pub ack_delay_ns: u64,
}

impl AckWait {
    /// Linux's minimum timer for delayed acknowledgements (`TCP_DELACK_MIN`), less one tick of 250 Hz.
    const DELAYED_NS: u64 = 36_000_000;

    /// Returns whether the acknowledgement was delayed by the timer of RFC 1122 section 4.2.3.2.
    pub fn is_of_delayed_ack(&self) -> bool {
        self.ack_delay_ns >= Self::DELAYED_NS
    }
}
