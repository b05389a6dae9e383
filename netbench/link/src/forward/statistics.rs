//! What the forwarder counts: written by its thread, read by others at any time.

use std::{
    collections::BTreeMap,
    sync::{
        Mutex, OnceLock, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use super::losses::{Loss, digest};

/// Counters of one forwarder.
#[derive(Default)]
pub(crate) struct Statistics {
    /// Released towards the other side after their delay.
    pub(crate) forwarded: AtomicU64,
    /// Of no site's connection: passed on at once.
    pub(crate) undelayed: AtomicU64,
    /// Dropped by the draw: with SYN or data.
    pub(crate) lost: AtomicU64,
    /// Dropped by the draw: bare ones.
    pub(crate) lost_bare: AtomicU64,
    /// Dropped because the bottleneck's queue was full.
    pub(crate) dropped_queue: AtomicU64,
    /// Dropped because the forwarder held as many packets as it may.
    pub(crate) dropped_memory: AtomicU64,
    /// Dropped by the kernel before the forwarder saw them.
    pub(crate) dropped_receive: AtomicU64,
    /// Refused by the kernel when sent.
    pub(crate) dropped_send: AtomicU64,
    /// How much later than it should each release began.
    pub(crate) lateness: Lateness,
    /// The kernel's scheduling of the forwarder's thread, once that runs.
    pub(crate) scheduling: OnceLock<&'static str>,
    losses: Mutex<Vec<Loss>>,
}

impl Statistics {
    /// Adds one.
    pub(crate) fn count(counter: &AtomicU64) {
        Self::add(counter, 1);
    }

    /// Adds `number`.
    pub(crate) fn add(counter: &AtomicU64, number: u64) {
        counter.fetch_add(number, Ordering::Relaxed);
    }

    /// Enters a loss of a packet with SYN or data.
    pub(crate) fn enter_loss(&self, loss: Loss) {
        Self::count(&self.lost);
        self.losses
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(loss);
    }

    /// Every counter under its name.
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

    /// The digest of the losses so far.
    pub(crate) fn losses_sha256(&self) -> String {
        digest(&self.losses.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// A histogram of nanoseconds whose buckets are a sixteenth of their power of two wide, so a
/// quantile is at most 6 % above the truth.
pub(crate) struct Lateness {
    buckets: Box<[AtomicU64]>,
    max_ns: AtomicU64,
}

impl Lateness {
    const STEPS_LOG2: u32 = 4;
    const STEPS: u64 = 1 << Self::STEPS_LOG2;
    const BUCKETS: usize = 64 << Self::STEPS_LOG2;

    /// Enters one release.
    pub(crate) fn enter(&self, late_ns: u64) {
        Statistics::count(&self.buckets[Self::bucket(late_ns)]);
        self.max_ns.fetch_max(late_ns, Ordering::Relaxed);
    }

    /// Nanoseconds under `p50`, `p90`, `p99` and `max`; empty before the first release.
    pub(crate) fn quantiles(&self) -> BTreeMap<String, u64> {
        let counts: Vec<u64> = self
            .buckets
            .iter()
            .map(|count| count.load(Ordering::Relaxed))
            .collect();
        let total: u64 = counts.iter().sum();
        if total == 0 {
            return BTreeMap::new();
        }
        let max_ns = self.max_ns.load(Ordering::Relaxed);
        let at = |percent: u64| {
            let rank = (total * percent).div_ceil(100);
            let mut seen = 0;
            let bucket = counts.iter().position(|count| {
                seen += count;
                seen >= rank
            });
            bucket.map_or(max_ns, Self::upper_ns).min(max_ns)
        };
        [
            ("p50", at(50)),
            ("p90", at(90)),
            ("p99", at(99)),
            ("max", max_ns),
        ]
        .map(|(name, ns)| (name.to_owned(), ns))
        .into()
    }

    /// Values under 16 have a bucket each; above, the four bits after the leading one choose.
    fn bucket(ns: u64) -> usize {
        let Some(shift) = ns
            .checked_ilog2()
            .and_then(|log| log.checked_sub(Self::STEPS_LOG2))
        else {
            return ns as usize;
        };
        ((u64::from(shift) << Self::STEPS_LOG2) + (ns >> shift)) as usize
    }

    /// The largest value of a bucket.
    fn upper_ns(bucket: usize) -> u64 {
        let bucket = bucket as u64;
        if bucket < Self::STEPS {
            return bucket;
        }
        let shift = (bucket >> Self::STEPS_LOG2) - 1;
        let step = u128::from(bucket % Self::STEPS + Self::STEPS + 1);
        u64::try_from((step << shift) - 1).unwrap_or(u64::MAX)
    }
}

impl Default for Lateness {
    fn default() -> Self {
        let buckets = (0..Self::BUCKETS).map(|_| AtomicU64::new(0)).collect();
        Self {
            buckets,
            max_ns: AtomicU64::new(0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_hold_what_they_say() {
        for ns in [
            0,
            1,
            15,
            16,
            17,
            31,
            32,
            1_000,
            99_999,
            1 << 40,
            u64::MAX - 1,
            u64::MAX,
        ] {
            let bucket = Lateness::bucket(ns);
            assert!(bucket < Lateness::BUCKETS, "{ns}");
            let upper = Lateness::upper_ns(bucket);
            assert!(
                upper >= ns && upper - ns <= ns / 16 + 1,
                "{ns} in a bucket up to {upper}"
            );
            if let Some(before) = bucket.checked_sub(1) {
                assert!(
                    Lateness::upper_ns(before) < ns,
                    "{ns} belongs to an earlier bucket"
                );
            }
        }
    }

    #[test]
    fn quantiles_are_of_what_was_entered() {
        let lateness = Lateness::default();
        assert!(lateness.quantiles().is_empty());
        for ns in 1..=1000 {
            lateness.enter(ns);
        }
        let quantiles = lateness.quantiles();
        for (name, low, high) in [
            ("p50", 500, 532),
            ("p90", 900, 957),
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
