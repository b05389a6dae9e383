//! The time of day that rustls is given: it advances by the test's amounts. A process runs one test.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use rustls_pki_types::UnixTime;

static AHEAD_S: AtomicU64 = AtomicU64::new(0);

/// Returns the time of day, or `None` for one before 1970.
pub fn now() -> Option<UnixTime> {
    let ahead = Duration::from_secs(AHEAD_S.load(Ordering::Relaxed));
    let now = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
    Some(UnixTime::since_unix_epoch(now + ahead))
}

/// Advances the clock.
pub(super) fn pass(time: Duration) {
    AHEAD_S.fetch_add(time.as_secs(), Ordering::Relaxed);
}
