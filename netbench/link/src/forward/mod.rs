//! The link in user space: packets come from one device, are treated according to the site's path,
//! and leave through the other device.

mod draw;
mod exchange;
mod forwarder;
mod losses;
mod observer;
mod packet_log;
mod paths;
mod recorder;
mod segment;
mod sleep;
mod statistics;
mod tls_records;
mod trials;

// The number of bare packets depends on the timing of both kernels, so they are numbered separately: an additional
// acknowledgement must not change the losses of all data after it.
pub(crate) use netbench_model::{LinkDirection as Direction, PacketLoad as Load};

pub use exchange::{Exchange, Request, Response};
pub(crate) use forwarder::{Forwarder, THREAD};
pub(crate) use observer::Observer;
pub use observer::{Elsewhere, Observed, ObservedConnection};
pub(crate) use paths::{OneWay, Paths};
pub(crate) use recorder::{Packet, Recorder};
pub(crate) use statistics::Statistics;
pub(crate) use trials::Trials;

/// The port of the link's own check, to which no loss, jitter or rate applies. It is above the
/// range of the connections' ephemeral ports.
pub(crate) const CHECK_PORT: u16 = 61_000;
