//! The time of day, as libssl reads it: it stands still, and advances at the runner's commands.
//!
//! libssl has no interface for a clock, so the C library's function that it calls is replaced. The shim needs
//! no other clock.

use std::{
    ptr,
    sync::atomic::{AtomicU64, Ordering},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use libc::{c_int, c_void, timeval};

static NOW_US: AtomicU64 = AtomicU64::new(0);

fn now_us() -> u64 {
    let now = NOW_US.load(Ordering::Relaxed);
    if now != 0 {
        return now;
    }
    // `SystemTime` calls another function of the C library, so this function does not call itself.
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or(Duration::from_secs(1));
    let now = u64::try_from(since.as_micros()).unwrap_or(1);
    NOW_US.store(now, Ordering::Relaxed);
    now
}

/// Advances the clock.
pub(crate) fn pass(time: Duration) {
    let us = u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
    NOW_US.store(now_us().saturating_add(us), Ordering::Relaxed);
}

/// Replaces the function that libssl calls for the time.
///
/// # Safety
/// The requirements are those of the C library's `gettimeofday`: `time` points to a `timeval`, or is null.
#[unsafe(no_mangle)]
unsafe extern "C" fn gettimeofday(time: *mut timeval, _zone: *mut c_void) -> c_int {
    let now = now_us();
    let value = timeval {
        tv_sec: libc::time_t::try_from(now / 1_000_000).unwrap_or(libc::time_t::MAX),
        tv_usec: libc::suseconds_t::try_from(now % 1_000_000).unwrap_or(0),
    };
    if !time.is_null() {
        // SAFETY: the caller provides a place for a timeval.
        unsafe { ptr::write(time, value) };
    }
    0
}

/// Replaces the function that libssl before 3.2 calls for the time of a session.
///
/// # Safety
/// The requirements are those of the C library's `time`: `place` points to a `time_t`, or is null.
#[cfg(before_openssl_3_2)]
#[unsafe(no_mangle)]
unsafe extern "C" fn time(place: *mut libc::time_t) -> libc::time_t {
    let now = libc::time_t::try_from(now_us() / 1_000_000).unwrap_or(libc::time_t::MAX);
    if !place.is_null() {
        // SAFETY: the caller provides a place for a time.
        unsafe { ptr::write(place, now) };
    }
    now
}
