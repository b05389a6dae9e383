use std::{
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use crate::clock::thread_cpu;

/// A future and the CPU time that its polls took, on whichever threads.
pub(crate) struct Computed<F> {
    future: F,
    spent: Duration,
}

impl<F> Computed<F> {
    pub(crate) fn new(future: F) -> Self {
        Self {
            future,
            spent: Duration::ZERO,
        }
    }
}

impl<F: Future + Unpin> Future for Computed<F> {
    type Output = (F::Output, Duration);

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let start = thread_cpu();
        let polled = Pin::new(&mut self.future).poll(cx);
        self.spent += thread_cpu().saturating_sub(start);
        polled.map(|output| (output, self.spent))
    }
}
