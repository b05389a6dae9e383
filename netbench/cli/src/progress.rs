use std::{
    io::{IsTerminal, stderr},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use netbench_model::{Outcome, Role, Sample, SuiteOutcome};
use netbench_runner::{Event, SuiteEvent};

use crate::options::Verbosity;

/// Between two lines in a log.
const LOG_EVERY: Duration = Duration::from_secs(15);

/// How a run goes, on stderr: a bar on a terminal, a line now and then in a log.
pub(crate) struct Progress {
    show: Show,
    samples: Samples,
    failed: AtomicU64,
    /// What is counted: samples, or sites.
    unit: &'static str,
}

/// What a scan tells while it runs.
pub(crate) enum SiteEvent {
    /// It begins: so many sites, of which some were done by an earlier session.
    Begin { sites: u64, done: u64 },
    /// A site is done.
    Done { scanned: bool },
}

/// Whether each sample has a line of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Samples {
    Told,
    Counted,
}

enum Show {
    Nothing,
    Bar(ProgressBar),
    Log(Mutex<Log>),
}

struct Log {
    begun: Instant,
    last: Instant,
    taken: u64,
    samples: u64,
}

/// A sample in a line. Reasons come from servers and workers.
fn told(sample: &Sample) -> String {
    let came = match &sample.outcome {
        Outcome::Ok(figures) => {
            let total_ms = figures.phases.total_ns as f64 / 1e6;
            let agreed = figures.client.version.zip(figures.client.suite);
            let agreed = agreed.map(|(version, suite)| format!(", TLS {version}, {suite}"));
            format!("{total_ms:.2} ms{}", agreed.unwrap_or_default())
        }
        Outcome::Failed(failure) => format!("{}: {}", failure.class, failure.reason),
        Outcome::Unsupported { reason } => format!("not tried: {reason}"),
    };
    let line = format!(
        "round {}, {}, {}, {}: {came}",
        sample.round + 1,
        sample.site,
        sample.condition,
        sample.stack
    );
    line.escape_debug().to_string()
}

impl Progress {
    pub(crate) fn new(quiet: bool) -> Self {
        Self::counting(quiet, "samples")
    }

    /// As much of each sample as the user wants to see.
    pub(crate) fn telling(self, verbosity: &Verbosity) -> Self {
        let samples = if verbosity.verbose {
            Samples::Told
        } else {
            Samples::Counted
        };
        Self { samples, ..self }
    }

    /// Counts something else than samples.
    pub(crate) fn counting(quiet: bool, unit: &'static str) -> Self {
        let show = if quiet {
            Show::Nothing
        } else if stderr().is_terminal() {
            let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr());
            let template =
                format!("{{bar:30}} {{pos}}/{{len}} {unit}  {{elapsed}}, {{eta}} left  {{msg}}");
            if let Ok(style) = ProgressStyle::with_template(&template) {
                bar.set_style(style);
            }
            Show::Bar(bar)
        } else {
            let now = Instant::now();
            Show::Log(Mutex::new(Log {
                begun: now,
                last: now,
                taken: 0,
                samples: 0,
            }))
        };
        Self {
            show,
            samples: Samples::Counted,
            failed: AtomicU64::new(0),
            unit,
        }
    }

    /// Says what is being done before the first trial.
    pub(crate) fn stage(&self, what: &str) {
        match &self.show {
            Show::Nothing => {}
            Show::Bar(bar) => bar.println(format!("netbench: {what}")),
            Show::Log(_) => note!("netbench: {what}"),
        }
    }

    pub(crate) fn hear(&self, event: &Event) {
        match event {
            Event::Begin { samples, done } => self.begin(*samples, *done),
            Event::Sampled(sample) if sample.role == Role::Measured => {
                if matches!(sample.outcome, Outcome::Failed(_)) {
                    self.failed.fetch_add(1, Ordering::Relaxed);
                }
                if self.samples == Samples::Told {
                    self.stage(&told(sample));
                }
                self.advance();
            }
            Event::Sampled(_) => {}
            Event::WorkerLost { stack, why } => self.stage(&format!("{stack}: {why}")),
        }
    }

    pub(crate) fn hear_suite(&self, event: &SuiteEvent<'_>) {
        match event {
            SuiteEvent::Begin { trials, done } => self.begin(*trials, *done),
            SuiteEvent::Sampled(sample) => {
                if self.samples == Samples::Told {
                    let (stack, scenario) = (&sample.stack, &sample.scenario);
                    self.stage(&format!("round {}, {scenario}, {stack}", sample.round + 1));
                }
                if matches!(sample.outcome, SuiteOutcome::Failed(_)) {
                    self.failed.fetch_add(1, Ordering::Relaxed);
                }
                self.advance();
            }
            SuiteEvent::Decided { saved, left } => {
                self.shorten(*saved);
                self.stage(&format!("decided; {left} scenarios are left"));
            }
            SuiteEvent::WorkerLost { stack, why } => self.stage(&format!("{stack}: {why}")),
        }
    }

    pub(crate) fn hear_scan(&self, event: &SiteEvent) {
        match event {
            SiteEvent::Begin { sites, done } => self.begin(*sites, *done),
            SiteEvent::Done { scanned } => {
                if !scanned {
                    self.failed.fetch_add(1, Ordering::Relaxed);
                }
                self.advance();
            }
        }
    }

    pub(crate) fn end(&self) {
        if let Show::Bar(bar) = &self.show {
            bar.finish_and_clear();
        }
    }

    fn begin(&self, samples: u64, done: u64) {
        match &self.show {
            Show::Nothing => {}
            Show::Bar(bar) => {
                bar.set_length(samples);
                bar.set_position(done);
                bar.reset_eta();
                bar.enable_steady_tick(Duration::from_millis(200));
            }
            Show::Log(log) => {
                let now = Instant::now();
                let mut log = log.lock().unwrap_or_else(PoisonError::into_inner);
                *log = Log {
                    begun: now,
                    last: now,
                    taken: 0,
                    samples: samples - done,
                };
                note!("netbench: {} {} to take", log.samples, self.unit);
            }
        }
    }

    fn shorten(&self, saved: u64) {
        match &self.show {
            Show::Nothing => {}
            Show::Bar(bar) => bar.dec_length(saved),
            Show::Log(log) => {
                let mut log = log.lock().unwrap_or_else(PoisonError::into_inner);
                log.samples = log.samples.saturating_sub(saved);
            }
        }
    }

    fn advance(&self) {
        let failed = match self.failed.load(Ordering::Relaxed) {
            0 => String::new(),
            failed => format!("{failed} failed"),
        };
        match &self.show {
            Show::Nothing => {}
            Show::Bar(bar) => {
                bar.set_message(failed);
                bar.inc(1);
            }
            Show::Log(log) => {
                let mut log = log.lock().unwrap_or_else(PoisonError::into_inner);
                log.taken += 1;
                let now = Instant::now();
                if now - log.last >= LOG_EVERY || log.taken == log.samples {
                    log.last = now;
                    let spent = now - log.begun;
                    let left = spent.as_secs_f64() / log.taken as f64
                        * log.samples.saturating_sub(log.taken) as f64;
                    let failed = if failed.is_empty() {
                        failed
                    } else {
                        format!(", {failed}")
                    };
                    note!(
                        "netbench: {} of {} {}, {} s so far, about {left:.0} s left{failed}",
                        log.taken,
                        log.samples,
                        self.unit,
                        spent.as_secs(),
                    );
                }
            }
        }
    }
}
