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

use crate::{options::Verbosity, output::for_stderr};

/// Between two lines in a log.
const LOG_EVERY: Duration = Duration::from_secs(15);

/// Where progress is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shown {
    Nowhere,
    /// As a bar on a terminal.
    Bar,
    /// As lines in a log.
    Log,
}

impl Shown {
    /// On stderr, whatever it is.
    pub(crate) fn on_stderr(quiet: bool) -> Self {
        match (quiet, stderr().is_terminal()) {
            (true, _) => Self::Nowhere,
            (false, true) => Self::Bar,
            (false, false) => Self::Log,
        }
    }

    /// A bar that looks like this; hidden unless it is to be seen.
    pub(crate) fn bar(self, template: &str) -> ProgressBar {
        let target = match self {
            Self::Bar => ProgressDrawTarget::stderr(),
            Self::Nowhere | Self::Log => ProgressDrawTarget::hidden(),
        };
        let bar = ProgressBar::with_draw_target(Some(0), target);
        match ProgressStyle::with_template(template) {
            Ok(style) => bar.with_style(style),
            Err(_) => bar,
        }
    }

    /// A line of text, above the bar.
    pub(crate) fn line(self, bar: &ProgressBar, text: &str) {
        match self {
            Self::Nowhere => {}
            Self::Bar => bar.println(for_stderr(&format!("netbench: {text}"))),
            Self::Log => note!("netbench: {text}"),
        }
    }
}

/// How work of many like pieces goes.
pub(crate) struct Progress {
    shown: Shown,
    /// Counts, and knows the time that is left, also where it is hidden.
    bar: ProgressBar,
    failed: AtomicU64,
    /// When the last line was logged.
    logged: Mutex<Instant>,
    /// What is counted: samples, sites, tests.
    unit: &'static str,
    samples: Samples,
}

/// Whether each sample has a line of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Samples {
    Told,
    Counted,
}

impl Progress {
    /// Counts samples, and shows as much of each as the user wants to see.
    pub(crate) fn of_samples(quiet: bool, verbosity: &Verbosity) -> Self {
        let samples = if verbosity.verbose {
            Samples::Told
        } else {
            Samples::Counted
        };
        Self {
            samples,
            ..Self::counting(quiet, "samples")
        }
    }

    pub(crate) fn counting(quiet: bool, unit: &'static str) -> Self {
        let shown = Shown::on_stderr(quiet);
        let template =
            format!("{{bar:30}} {{pos}}/{{len}} {unit}  {{elapsed}}, {{eta}} left  {{msg}}");
        Self {
            shown,
            bar: shown.bar(&template),
            failed: AtomicU64::new(0),
            logged: Mutex::new(Instant::now()),
            unit,
            samples: Samples::Counted,
        }
    }

    /// Says what is being done now.
    pub(crate) fn stage(&self, what: &str) {
        self.shown.line(&self.bar, what);
    }

    /// Begins to count to `all`, of which some were done before.
    pub(crate) fn begin(&self, all: u64, done: u64) {
        self.bar.reset();
        self.bar.set_length(all);
        self.bar.set_position(done);
        self.bar.reset_eta();
        self.failed.store(0, Ordering::Relaxed);
        match self.shown {
            Shown::Nowhere => {}
            Shown::Bar => self.bar.enable_steady_tick(Duration::from_millis(200)),
            Shown::Log => self.stage(&format!("{} {} to go", all - done, self.unit)),
        }
    }

    /// One more is done.
    pub(crate) fn advance(&self, failed: bool) {
        let failed = self.failed.fetch_add(failed.into(), Ordering::Relaxed) + u64::from(failed);
        let failed = match failed {
            0 => String::new(),
            failed => format!("{failed} failed"),
        };
        self.bar.inc(1);
        self.bar.set_message(failed.clone());
        if self.shown == Shown::Log {
            let (done, all) = (self.bar.position(), self.bar.length().unwrap_or(0));
            let mut logged = self.logged.lock().unwrap_or_else(PoisonError::into_inner);
            if logged.elapsed() >= LOG_EVERY || done == all {
                *logged = Instant::now();
                let (spent, left) = (self.bar.elapsed().as_secs(), self.bar.eta().as_secs());
                let comma = if failed.is_empty() { "" } else { ", " };
                let unit = self.unit;
                self.stage(&format!(
                    "{done} of {all} {unit}, {spent} s elapsed, about {left} s left{comma}{failed}"
                ));
            }
        }
    }

    pub(crate) fn end(&self) {
        self.bar.finish_and_clear();
    }

    pub(crate) fn hear(&self, event: &Event) {
        match event {
            Event::Begin { samples, done } => self.begin(*samples, *done),
            Event::Sampled(sample) if sample.role == Role::Measured && sample.outcome.counts() => {
                if self.samples == Samples::Told {
                    self.stage(&told(sample));
                }
                self.advance(matches!(sample.outcome, Outcome::Failed(_)));
            }
            Event::Sampled(_) => {}
            Event::Again(samples) => self.bar.inc_length(*samples),
            Event::ServerDied { server, why } => {
                self.stage(&format!("the lab's server {server}: {why}"));
            }
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
                self.advance(matches!(sample.outcome, SuiteOutcome::Failed(_)));
            }
            SuiteEvent::Decided { saved, left } => {
                self.bar.dec_length(*saved);
                self.stage(&format!("decided; {left} scenarios are left"));
            }
            SuiteEvent::WorkerLost { stack, why } => self.stage(&format!("{stack}: {why}")),
        }
    }
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
        Outcome::Void { reason } => format!("void: {reason}"),
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
