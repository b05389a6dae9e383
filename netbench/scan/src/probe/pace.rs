//! Rate limits: servers that accept only a number of connections in some time are noticed, waited for, and probed
//! more slowly from then on.

use std::{
    cell::{Cell, RefCell},
    collections::VecDeque,
    time::Duration,
};

use tokio::{
    sync::{Mutex, MutexGuard},
    time::Instant,
};

/// The period over which connections are counted. Periods of proxies and firewalls are usually over 10 s.
pub(super) const WINDOW: Duration = Duration::from_secs(10);

/// The first wait for a server that has stopped responding. Each further one is twice as long.
const FIRST_WAIT: Duration = Duration::from_secs(1);

/// The margin of the time between two connections over the one that a limit allows.
const MARGIN: f64 = 1.1;

/// The ages of connections.
#[derive(Debug)]
pub(super) struct Recent(Vec<Duration>);

impl Recent {
    /// Returns the number of connections that began within this time.
    pub(super) fn within(&self, window: Duration) -> usize {
        self.0.iter().filter(|age| **age <= window).count()
    }
}

/// The rate at which one site is probed.
#[derive(Debug, Default)]
pub(super) struct Pace {
    /// The begin of the connections of the last [`WINDOW`].
    begun: RefCell<VecDeque<Instant>>,
    /// The time between two connections, once a limit was met.
    interval: Cell<Option<Duration>>,
    next: Cell<Option<Instant>>,
    /// A lock held by the waiter for the server: two simultaneous requests would keep each other out.
    waits: Mutex<()>,
}

impl Pace {
    /// Waits until the next connection may begin, and counts it.
    pub(super) async fn enter(&self) {
        self.enter_together(1).await;
    }

    /// Waits until `count` connections may begin at the same time, and counts them.
    pub(super) async fn enter_together(&self, count: u32) {
        if let Some(interval) = self.interval.get() {
            let now = Instant::now();
            let at = self.next.get().map_or(now, |next| next.max(now));
            self.next.set(Some(at + interval * count));
            tokio::time::sleep_until(at).await;
        }
        self.count(count);
    }

    /// Counts connections that begin now.
    pub(super) fn count(&self, count: u32) {
        self.forget();
        let now = Instant::now();
        self.begun.borrow_mut().extend((0..count).map(|_| now));
    }

    /// Returns exclusive access to a server that has stopped responding.
    pub(super) async fn alone(&self) -> MutexGuard<'_, ()> {
        self.waits.lock().await
    }

    /// Returns the waits before each further attempt, with increasing length.
    pub(super) fn waits() -> impl Iterator<Item = Duration> {
        std::iter::successors(Some(FIRST_WAIT), |wait| Some(*wait * 2))
    }

    /// Returns the connections of the last [`WINDOW`].
    pub(super) fn recent(&self) -> Recent {
        self.forget();
        let begun = self.begun.borrow();
        Recent(begun.iter().map(Instant::elapsed).collect())
    }

    /// Returns the time between two connections, if a limit was met.
    pub(super) fn interval(&self) -> Option<Duration> {
        self.interval.get()
    }

    /// Sets the pace to fewer connections than were too many, or to half of the previous pace. A limit counts connections over
    /// `window` at most, which is the time after which it was over.
    pub(super) fn slow_down(&self, too_many: &Recent, window: Duration) -> Duration {
        let window = window.min(WINDOW);
        let allowed = too_many.within(window).saturating_sub(1).max(1);
        let fewer = window.mul_f64(MARGIN / allowed as f64);
        let interval = self.interval.get().map_or(fewer, |was| was * 2);
        self.interval.set(Some(interval));
        interval
    }

    fn forget(&self) {
        let mut begun = self.begun.borrow_mut();
        while begun.front().is_some_and(|at| at.elapsed() > WINDOW) {
            begun.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_that_was_met_is_kept_to() {
        let ms = Duration::from_millis;
        for (limit, window_ms, age_ms, waited_ms) in [
            // Three in a second, met by four in a burst.
            (3, 1_000, 5, 1_000),
            // Fifteen in five seconds: the waits of 1, 2 and 4 s.
            (15, 5_000, 100, 7_000),
            (60, 60_000, 2_000, 63_000),
        ] {
            let begun = vec![ms(age_ms); limit + 1];
            let interval = Pace::default().slow_down(&Recent(begun), ms(waited_ms));
            let window = ms(window_ms).min(WINDOW);
            let over = interval.as_secs_f64() * limit as f64 / window.as_secs_f64();
            assert!((1.0..=2.0).contains(&over), "{limit}: {interval:?}");
        }
        // Connections before the time that was waited are not counted.
        let old = Recent(vec![ms(2_000); 20]);
        let interval = Pace::default().slow_down(&old, ms(1_000));
        assert_eq!(interval, ms(1_000).mul_f64(MARGIN));
    }
}
