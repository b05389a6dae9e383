use std::time::Duration;

use crate::cost::{Cost, times};

/// The time of a protocol test on one core.
const TEST: Duration = Duration::from_millis(25);

/// Number of tests of BoringSSL's runner.
const ALL: u64 = 8_105;

/// Predicts the time of all protocol tests of `shims` shims.
pub(crate) fn time_of_all(shims: u64, jobs: u32) -> Duration {
    cost_of(ALL * shims, jobs).time
}

/// Returns the cost of `tests` protocol tests, `jobs` at a time.
pub(crate) fn cost_of(tests: u64, jobs: u32) -> Cost {
    Cost {
        time: times(TEST, tests as f64 / f64::from(jobs.max(1))),
        pieces: tests,
        unit: ("test", "tests"),
        shorter: "--feature or --test",
    }
}
