//! Work on all cores.

use std::{num::NonZero, panic::resume_unwind, thread};

use parking_lot::Mutex;

/// Does the work of every item, beginning with the last, and returns the results in any order.
///
/// # Errors
/// Returns the first error, after which no further work is begun.
pub(crate) fn on_all_cores<T: Send, R: Send, E: Send>(
    items: Vec<T>,
    work: impl Fn(T) -> Result<R, E> + Sync,
) -> Result<Vec<R>, E> {
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    let threads = threads.min(items.len());
    let queue = Mutex::new(items);
    thread::scope(|scope| {
        let running: Vec<_> = (0..threads)
            .map(|_| {
                scope.spawn(|| {
                    let items = std::iter::from_fn(|| queue.lock().pop());
                    let done: Result<Vec<R>, E> = items.map(&work).collect();
                    done.inspect_err(|_| queue.lock().clear())
                })
            })
            .collect();
        let mut all = Vec::new();
        for thread in running {
            all.extend(thread.join().unwrap_or_else(|panic| resume_unwind(panic))?);
        }
        Ok(all)
    })
}
