//! The two clocks of the kernel that the forwarder compares: releases are due by the monotonic
//! one, arrivals are stamped by the real-time one.

use rustix::time::{ClockId, clock_gettime};

/// Reads CLOCK_MONOTONIC, in nanoseconds.
pub(crate) fn monotonic_ns() -> u64 {
    read_ns(ClockId::Monotonic)
}

/// Reads CLOCK_REALTIME, in nanoseconds since 1970.
pub(crate) fn realtime_ns() -> u64 {
    read_ns(ClockId::Realtime)
}

fn read_ns(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    time.tv_sec.unsigned_abs() * 1_000_000_000 + time.tv_nsec.unsigned_abs()
}
