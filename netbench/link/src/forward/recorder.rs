//! Packets of connections that somebody wants to see one by one. Asked for by the threads that make connections, written by
//! the forwarder.

use std::sync::{
    Mutex, PoisonError,
    atomic::{AtomicU32, Ordering},
};

use super::{Direction, Load};

/// Packets kept of a site; what comes after the head of a response is of no interest.
const MOST: usize = 4096;

/// A packet of a connection, as the forwarder saw it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Packet {
    pub(crate) direction: Direction,
    pub(crate) load: Load,
    /// SYN without ACK: a connection begins.
    pub(crate) opens: bool,
    pub(crate) client_port: u16,
    pub(crate) sequence: u32,
    /// Bytes of data.
    pub(crate) data_bytes: u32,
    /// When its sender had sent it.
    pub(crate) arrived_ns: u64,
    /// When it was due at its receiver; none where it was lost.
    pub(crate) due_ns: Option<u64>,
}

/// The packets of sites that are recorded.
#[derive(Default)]
pub(crate) struct Recorder {
    /// How many sites are recorded, for the forwarder to look at nothing else while there are none.
    recording: AtomicU32,
    sites: Mutex<Vec<(usize, Vec<Packet>)>>,
}

impl Recorder {
    /// Packets of `site` are kept from now on.
    pub(crate) fn begin(&self, site: usize) {
        let mut sites = self.sites.lock().unwrap_or_else(PoisonError::into_inner);
        sites.retain(|(recorded, _)| *recorded != site);
        sites.push((site, Vec::new()));
        self.count(sites.len());
    }

    /// The packets of `site` since it was begun.
    pub(crate) fn end(&self, site: usize) -> Vec<Packet> {
        let mut sites = self.sites.lock().unwrap_or_else(PoisonError::into_inner);
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
        let mut sites = self.sites.lock().unwrap_or_else(PoisonError::into_inner);
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
