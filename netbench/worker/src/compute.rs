use std::{
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use crate::clock::thread_cpu;

/// A future and the CPU time of its polls, on all threads.
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

#[cfg(test)]
mod tests {
    use std::task::Waker;

    use super::*;

    const WORK: Duration = Duration::from_millis(5);

    /// Computes until the thread's CPU clock has advanced by `duration`.
    fn work(duration: Duration) {
        let start = thread_cpu();
        while thread_cpu().saturating_sub(start) < duration {
            std::hint::spin_loop();
        }
    }

    /// A future that computes in each of `polls` polls, and is ready in the last.
    struct Working {
        polls: u32,
    }

    impl Future for Working {
        type Output = &'static str;

        fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Self::Output> {
            work(WORK);
            self.polls -= 1;
            if self.polls == 0 {
                Poll::Ready("done")
            } else {
                Poll::Pending
            }
        }
    }

    #[test]
    fn cpu_time_is_of_all_polls_and_of_nothing_between_them() {
        for polls in 1..=3 {
            let begun = thread_cpu();
            let mut computed = Computed::new(Working { polls });
            let mut cx = Context::from_waker(Waker::noop());
            let mut elsewhere = Duration::ZERO;
            let (output, spent) = loop {
                match Pin::new(&mut computed).poll(&mut cx) {
                    Poll::Ready(done) => break done,
                    Poll::Pending => {
                        work(4 * WORK);
                        elsewhere += 4 * WORK;
                    }
                }
            };
            let all = thread_cpu() - begun;
            assert_eq!(output, "done");
            assert!(spent >= WORK * polls, "{spent:?} in {polls} polls");
            assert!(
                spent <= all - elsewhere,
                "{spent:?} of {all:?}, {elsewhere:?} elsewhere"
            );
        }
    }
}
