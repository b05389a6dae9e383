use std::time::Duration;

use super::{Cost, times};

/// A protocol test, on one core.
const TEST: Duration = Duration::from_millis(25);

/// The tests of BoringSSL's runner.
const ALL: u64 = 8_105;

/// What all protocol tests of so many shims take.
pub(crate) fn all_tests(shims: usize, jobs: u32) -> Cost {
    tests(ALL * shims as u64, jobs)
}

/// What so many protocol tests take, `jobs` at a time.
pub(crate) fn tests(tests: u64, jobs: u32) -> Cost {
    Cost {
        time: times(TEST, tests as f64 / f64::from(jobs.max(1))),
        pieces: tests,
        unit: "tests",
        shorter: "--feature or --test",
    }
}
