//! The forwarder's counters: written by its thread, read by others at any time.

use std::{
    collections::BTreeMap,
    sync::{
        OnceLock,
        atomic::{AtomicU64, Ordering},
    },
};

use hdrhistogram::Histogram;
use parking_lot::Mutex;

use super::losses::{Loss, digest};

/// Counters of one forwarder.
#[derive(Default)]
pub(crate) struct Statistics {
    /// Packets released towards the other side after their delay.
    pub(crate) forwarded: AtomicU64,
    /// Packets of no site's connection, forwarded at once.
    pub(crate) undelayed: AtomicU64,
    /// Packets with SYN or data, dropped by the draw.
    pub(crate) lost: AtomicU64,
    /// Bare packets, dropped by the draw.
    pub(crate) lost_bare: AtomicU64,
    /// Packets dropped because the bottleneck's queue was full.
    pub(crate) dropped_queue: AtomicU64,
    /// Packets dropped because the forwarder held its maximum number of packets.
    pub(crate) dropped_memory: AtomicU64,
    /// Packets dropped by the kernel before the forwarder received them.
    pub(crate) dropped_receive: AtomicU64,
    /// Packets that the kernel refused to send.
    pub(crate) dropped_send: AtomicU64,
    /// The lateness with which each release began.
    pub(crate) lateness: Lateness,
    /// The kernel's scheduling policy of the forwarder's thread, once that runs.
    pub(crate) scheduling: OnceLock<&'static str>,
    losses: Mutex<Vec<Loss>>,
}

impl Statistics {
    /// Adds `number` to a counter.
    pub(crate) fn add(counter: &AtomicU64, number: u64) {
        counter.fetch_add(number, Ordering::Relaxed);
    }

    /// Enters a loss of a packet with SYN or data.
    pub(crate) fn enter_loss(&self, loss: Loss) {
        Self::add(&self.lost, 1);
        self.losses.lock().push(loss);
    }

    /// Returns every counter under its name.
    pub(crate) fn packets(&self) -> BTreeMap<String, u64> {
        [
            ("forwarded", &self.forwarded),
            ("undelayed", &self.undelayed),
            ("lost", &self.lost),
            ("lost_bare", &self.lost_bare),
            ("dropped_queue", &self.dropped_queue),
            ("dropped_memory", &self.dropped_memory),
            ("dropped_receive", &self.dropped_receive),
            ("dropped_send", &self.dropped_send),
        ]
        .into_iter()
        .map(|(name, counter)| (name.to_owned(), counter.load(Ordering::Relaxed)))
        .collect()
    }

    /// Returns the digest of the losses so far.
    pub(crate) fn losses_sha256(&self) -> String {
        digest(&self.losses.lock())
    }
}

/// The maximum lateness that the histogram distinguishes.
const MOST_LATENESS_NS: u64 = 60_000_000_000;
/// Number of significant digits of a quantile.
const LATENESS_DIGITS: u8 = 2;

/// The lateness of releases, in nanoseconds.
pub(crate) struct Lateness {
    histogram: Mutex<Histogram<u64>>,
    /// The exact maximum, which the histogram would round up.
    max_ns: AtomicU64,
}

impl Lateness {
    /// Records one release. Only the forwarder's thread calls this: the lock is nearly always free.
    pub(crate) fn enter(&self, late_ns: u64) {
        self.histogram.lock().saturating_record(late_ns);
        self.max_ns.fetch_max(late_ns, Ordering::Relaxed);
    }

    /// Returns the nanoseconds under `p50`, `p90`, `p99` and `max`; empty before the first release.
    pub(crate) fn quantiles(&self) -> BTreeMap<String, u64> {
        let histogram = self.histogram.lock();
        if histogram.is_empty() {
            return BTreeMap::new();
        }
        let max_ns = self.max_ns.load(Ordering::Relaxed);
        let quantiles = [("p50", 0.5), ("p90", 0.9), ("p99", 0.99)].into_iter();
        let quantiles = quantiles
            .map(|(name, quantile)| (name, histogram.value_at_quantile(quantile).min(max_ns)));
        let all = quantiles.chain([("max", max_ns)]);
        all.map(|(name, ns)| (name.to_owned(), ns)).collect()
    }
}

impl Default for Lateness {
    fn default() -> Self {
        let histogram = Histogram::new_with_bounds(1, MOST_LATENESS_NS, LATENESS_DIGITS);
        Self {
            histogram: Mutex::new(histogram.expect("the bounds are valid")),
            max_ns: AtomicU64::new(0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_of_what_was_entered() {
        let lateness = Lateness::default();
        assert!(lateness.quantiles().is_empty());
        for ns in 1..=1000 {
            lateness.enter(ns);
        }
        let quantiles = lateness.quantiles();
        for (name, low, high) in [
            ("p50", 500, 505),
            ("p90", 900, 909),
            ("p99", 990, 1000),
            ("max", 1000, 1000),
        ] {
            assert!(
                (low..=high).contains(&quantiles[name]),
                "{name}: {}",
                quantiles[name]
            );
        }
    }
}
