/// The duration of a sleep after which the processor may have entered a deeper sleep state.
const LONG_SLEEP_NS: u64 = 4_000_000;

/// The minimum and maximum time that the thread spins before a release.
const SPIN_NS: std::ops::RangeInclusive<u64> = 40_000..=400_000;

/// The time before a release at which the thread stops sleeping, learnt from the lateness of
/// earlier sleeps: an idle virtual machine wakes up a few hundred microseconds late, a busy one at
/// once.
#[derive(Debug)]
pub(crate) struct SleepMargins {
    short: Margin,
    long: Margin,
}

/// An estimate of the 99th percentile of a sleep's lateness (Robbins and Monro 1951): a large step
/// up after each sleep that was later, a 99th of that step down after each sleep that was not.
#[derive(Debug)]
struct Margin {
    spin_ns: u64,
}

impl Default for SleepMargins {
    fn default() -> Self {
        Self {
            short: Margin { spin_ns: 60_000 },
            long: Margin { spin_ns: 150_000 },
        }
    }
}

impl SleepMargins {
    /// Returns the time to sleep when a packet is due in `left_ns`; 0 means to spin.
    pub(crate) fn sleep_ns(&mut self, left_ns: u64) -> u64 {
        left_ns.saturating_sub(self.of(left_ns).spin_ns)
    }

    /// Enters a sleep of `wait_ns` that was not interrupted and ended `late_ns` late.
    pub(crate) fn woke(&mut self, wait_ns: u64, late_ns: u64) {
        self.of(wait_ns).learn(late_ns);
    }

    /// Returns the margin of a sleep of this length.
    fn of(&mut self, sleep_ns: u64) -> &mut Margin {
        if sleep_ns > LONG_SLEEP_NS {
            &mut self.long
        } else {
            &mut self.short
        }
    }
}

impl Margin {
    fn learn(&mut self, late_ns: u64) {
        const UP_NS: u64 = 19_800;
        let next = if late_ns > self.spin_ns {
            self.spin_ns + UP_NS
        } else {
            self.spin_ns.saturating_sub(UP_NS / 99)
        };
        self.spin_ns = next.clamp(*SPIN_NS.start(), *SPIN_NS.end());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_margin_settles_near_the_99th_percentile() {
        // The sleeps are 0 to 199 µs late, evenly and in a scattered order.
        let mut margins = SleepMargins::default();
        for i in 0..20_000 {
            margins.woke(1_000_000, (i * 7919 % 200) * 1_000);
        }
        let spin_ns = margins.short.spin_ns;
        assert!((180_000..=220_000).contains(&spin_ns), "{spin_ns}");
        assert_eq!(margins.long.spin_ns, SleepMargins::default().long.spin_ns);
    }

    #[test]
    fn it_never_spins_for_long() {
        let mut margins = SleepMargins::default();
        for _ in 0..1_000 {
            margins.woke(1_000_000, 50_000_000);
        }
        assert_eq!(margins.sleep_ns(1_000_000), 600_000);
        assert_eq!(margins.sleep_ns(300_000), 0);
    }
}
