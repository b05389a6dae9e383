use std::{
    io::{IsTerminal, stderr},
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use netbench_model::coverage::TestOutcome;

/// How often a log has a line.
const LOG_EVERY: Duration = Duration::from_secs(15);

/// Prints each step on stderr.
pub(crate) struct Say {
    quiet: bool,
}

impl Say {
    pub(crate) fn new(quiet: bool) -> Self {
        Self { quiet }
    }

    pub(crate) fn step(&self, what: &str) {
        if !self.quiet {
            note!("{what}");
        }
    }

    /// Starts to count tests.
    pub(crate) fn count(&self, tests: usize) -> Counter {
        let show = if self.quiet {
            Show::Nothing
        } else if stderr().is_terminal() {
            let target = ProgressDrawTarget::stderr();
            let bar = ProgressBar::with_draw_target(Some(tests as u64), target);
            let template = "{bar:30} {pos}/{len} tests  {elapsed}, {eta} left  {msg}";
            if let Ok(style) = ProgressStyle::with_template(template) {
                bar.set_style(style);
            }
            Show::Bar(bar)
        } else {
            Show::Log
        };
        let now = Instant::now();
        let counts = Mutex::new(Counts {
            done: 0,
            failed: 0,
            begun: now,
            last: now,
        });
        Counter {
            show,
            tests,
            counts,
        }
    }
}

/// Counts tests as they end, from several threads.
pub(crate) struct Counter {
    show: Show,
    tests: usize,
    counts: Mutex<Counts>,
}

enum Show {
    Nothing,
    Bar(ProgressBar),
    Log,
}

struct Counts {
    done: usize,
    failed: usize,
    begun: Instant,
    last: Instant,
}

impl Counter {
    pub(crate) fn done(&self, outcome: TestOutcome) {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        counts.done += 1;
        counts.failed += usize::from(outcome == TestOutcome::Failed);
        match &self.show {
            Show::Nothing => {}
            Show::Bar(bar) => {
                bar.set_message(format!("{} failed", counts.failed));
                bar.inc(1);
            }
            Show::Log => {
                let now = Instant::now();
                if now - counts.last >= LOG_EVERY || counts.done == self.tests {
                    counts.last = now;
                    note!(
                        "{} of {} tests, {} failed, {} s elapsed",
                        counts.done,
                        self.tests,
                        counts.failed,
                        (now - counts.begun).as_secs()
                    );
                }
            }
        }
    }

    pub(crate) fn end(&self) {
        if let Show::Bar(bar) = &self.show {
            bar.finish_and_clear();
        }
    }
}
