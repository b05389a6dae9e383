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

    /// Returns the number of connections of the last [`WINDOW`].
    pub(super) fn recent(&self) -> usize {
        self.forget();
        self.begun.borrow().len()
    }

    /// Returns the time between two connections, if a limit was met.
    pub(super) fn interval(&self) -> Option<Duration> {
        self.interval.get()
    }

    /// Sets the pace to fewer connections than `too_many` in each [`WINDOW`], or to half of the previous pace.
    pub(super) fn slow_down(&self, too_many: usize) -> Duration {
        let fewer = WINDOW.mul_f64(1.25 / too_many.max(1) as f64);
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
