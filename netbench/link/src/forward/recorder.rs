//! The packets of connections of which each packet is of interest. The threads that make connections start
//! recordings, and the forwarder writes them.

use std::sync::atomic::{AtomicU32, Ordering};

use parking_lot::Mutex;

use super::{Direction, Load};

/// The maximum number of packets that are kept of a site; those after the head of a response are not needed.
const MOST: usize = 4096;

/// A packet of a connection, as the forwarder received it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Packet {
    pub(crate) direction: Direction,
    pub(crate) load: Load,
    /// Whether the packet is a SYN without ACK, which begins a connection.
    pub(crate) opens: bool,
    pub(crate) client_port: u16,
    pub(crate) sequence: u32,
    /// Number of bytes of data.
    pub(crate) data_bytes: u32,
    /// The time at which its sender had sent it.
    pub(crate) arrived_ns: u64,
    /// The time at which it was due at its receiver, or `None` where it was lost.
    pub(crate) due_ns: Option<u64>,
}

/// The packets of sites that are recorded.
#[derive(Default)]
pub(crate) struct Recorder {
    /// Number of recorded sites, so that the forwarder does no further work while there are none.
    recording: AtomicU32,
    sites: Mutex<Vec<(usize, Vec<Packet>)>>,
}

impl Recorder {
    /// Starts keeping the packets of `site`.
    pub(crate) fn begin(&self, site: usize) {
        let mut sites = self.sites.lock();
        sites.retain(|(recorded, _)| *recorded != site);
        sites.push((site, Vec::new()));
        self.count(sites.len());
    }

    /// Returns the packets of `site` since the recording began, and ends it.
    pub(crate) fn end(&self, site: usize) -> Vec<Packet> {
        let mut sites = self.sites.lock();
        let place = sites.iter().position(|(recorded, _)| *recorded == site);
        let ended = place.map(|place| sites.swap_remove(place).1);
        self.count(sites.len());
        ended.unwrap_or_default()
    }

    /// Keeps a packet, if its site is recorded.
    pub(crate) fn enter(&self, site: usize, packet: Packet) {
        if self.recording.load(Ordering::Relaxed) == 0 {
            return;
        }
        let mut sites = self.sites.lock();
        let recorded = sites.iter_mut().find(|(recorded, _)| *recorded == site);
        if let Some((_, packets)) = recorded
            && packets.len() < MOST
        {
            packets.push(packet);
        }
    }

    fn count(&self, sites: usize) {
        let sites = u32::try_from(sites).unwrap_or(u32::MAX);
        self.recording.store(sites, Ordering::Relaxed);
    }
}
