use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

use crate::error::Unanswered;

/// The time limit of a browser's action, and a flag that ends it early.
#[derive(Debug, Clone, Copy)]
pub struct Limit<'a> {
    /// The time after which a missing answer counts as hung.
    pub deadline: Instant,
    /// A flag that stops the wait once it is true.
    pub stop: &'a AtomicBool,
}

impl Limit<'_> {
    pub(crate) fn left(self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }

    /// Returns why the wait is over, if it is.
    pub(crate) fn check(self) -> Result<(), Unanswered> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(Unanswered::Stopped);
        }
        if self.left().is_zero() {
            return Err(Unanswered::Late);
        }
        Ok(())
    }
}
