//! The two clocks of the kernel that the forwarder compares: releases are due by the monotonic
//! one, arrivals are stamped by the real-time one.

/// CLOCK_MONOTONIC, in nanoseconds.
pub(crate) fn monotonic_ns() -> u64 {
    read_ns(libc::CLOCK_MONOTONIC)
}

/// CLOCK_REALTIME, in nanoseconds since 1970.
pub(crate) fn realtime_ns() -> u64 {
    read_ns(libc::CLOCK_REALTIME)
}

fn read_ns(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `time` is a valid place for the result. These clocks always exist, so there is no
    // failure to report.
    unsafe { libc::clock_gettime(clock, &raw mut time) };
    time.tv_sec.unsigned_abs() * 1_000_000_000 + time.tv_nsec.unsigned_abs()
}
