//! Tests of several clients at the same time, each on its own thread, with one receiver of the samples.

use std::{
    ops::ControlFlow,
    sync::{
        atomic::{AtomicBool, Ordering},
        mpsc::{self, Sender},
    },
    thread,
    time::{Duration, Instant},
};

use netbench_browser::Limit;

/// The way of a client's samples to the receiver of all samples.
pub(crate) struct Outlet<'a, S, E> {
    sender: Sender<Result<S, E>>,
    /// A flag that becomes true when the run is to stop.
    pub(crate) stop: &'a AtomicBool,
    /// A flag that becomes true when the receiver takes no more samples.
    ended: &'a AtomicBool,
}

impl<S, E> Outlet<'_, S, E> {
    /// Returns whether no more samples are wanted.
    pub(crate) fn is_over(&self) -> bool {
        self.stop.load(Ordering::Relaxed) || self.ended.load(Ordering::Relaxed)
    }

    /// Returns the limit of a browser's answer.
    pub(crate) fn within(&self, limit: Duration) -> Limit<'_> {
        Limit {
            deadline: Instant::now() + limit,
            stop: self.stop,
        }
    }

    /// Passes a sample on. Breaks if no more are wanted.
    pub(crate) fn pass(&self, sample: S) -> ControlFlow<()> {
        if self.sender.send(Ok(sample)).is_ok() && !self.is_over() {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    }
}

/// Tests all clients at the same time by `test`, and passes each sample to `found`, until `found` or an error ends the
/// run.
pub(crate) fn side_by_side<C: Send, S: Send, E: Send>(
    clients: impl IntoIterator<Item = C>,
    stop: &AtomicBool,
    test: impl Fn(C, &Outlet<'_, S, E>) -> Result<(), E> + Sync,
    mut found: impl FnMut(S) -> ControlFlow<()>,
) -> Result<(), E> {
    let (sender, samples) = mpsc::channel();
    let ended = AtomicBool::new(false);
    thread::scope(|scope| {
        for client in clients {
            let (sender, ended, test) = (sender.clone(), &ended, &test);
            scope.spawn(move || {
                let outlet = Outlet {
                    sender,
                    stop,
                    ended,
                };
                if let Err(error) = test(client, &outlet) {
                    let _ = outlet.sender.send(Err(error));
                }
            });
        }
        drop(sender);
        for sample in samples {
            let goes_on = sample.map(|sample| found(sample).is_continue());
            if !matches!(goes_on, Ok(true)) {
                ended.store(true, Ordering::Relaxed);
                return goes_on.map(drop);
            }
        }
        Ok(())
    })
}
