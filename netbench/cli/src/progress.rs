use std::{
    env,
    ffi::OsString,
    fmt::Write,
    io::{IsTerminal, stderr},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use netbench_report::count;

use crate::{
    cost::{Eta, Piece, about, exact},
    options::Output,
    output::for_stderr,
};

/// The interval between two lines in a log: a fraction of the whole time, within these limits.
const LOG_SHARE: u32 = 30;
const LOG_LEAST: Duration = Duration::from_secs(15);
const LOG_MOST: Duration = Duration::from_secs(300);

/// The place where progress is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shown {
    Nowhere,
    /// A bar on a terminal.
    Bar,
    /// Lines in a log.
    Log,
}

impl Shown {
    /// Returns the style of progress for stderr.
    pub(crate) fn on_stderr(quiet: bool) -> Self {
        match (quiet, stderr().is_terminal() && !is_log()) {
            (true, _) => Self::Nowhere,
            (false, true) => Self::Bar,
            (false, false) => Self::Log,
        }
    }

    /// Returns a bar with this template, which is hidden unless progress is shown as a bar.
    pub(crate) fn bar(self, template: &str) -> ProgressBar {
        let bar = ProgressBar::with_draw_target(Some(0), self.target());
        match ProgressStyle::with_template(template) {
            Ok(style) => bar.with_style(style),
            Err(_) => bar,
        }
    }

    /// Returns a group for bars that are shown at the same time.
    pub(crate) fn group(self) -> MultiProgress {
        MultiProgress::with_draw_target(self.target())
    }

    fn target(self) -> ProgressDrawTarget {
        match self {
            Self::Bar => ProgressDrawTarget::stderr(),
            Self::Nowhere | Self::Log => ProgressDrawTarget::hidden(),
        }
    }

    /// Prints a line of text above the bar.
    pub(crate) fn line(self, bar: &ProgressBar, text: &str) {
        match self {
            Self::Nowhere => {}
            Self::Bar => bar.println(for_stderr(&format!("netbench: {text}"))),
            Self::Log => note!("netbench: {text}"),
        }
    }
}

/// Returns whether an apparent terminal only keeps lines, such as that of a CI job or an editor.
fn is_log() -> bool {
    let ci = set("CI").is_some_and(|value| value != "false" && value != "0");
    ci || set("TERM").is_none_or(|term| term == "dumb")
}

/// Returns the value of an environment variable that is set and not empty.
fn set(name: &str) -> Option<OsString> {
    env::var_os(name).filter(|value| !value.is_empty())
}

/// The progress of work that has many pieces.
pub(crate) struct Progress {
    shown: Shown,
    /// The bar, which counts even if it is hidden.
    bar: ProgressBar,
    pace: Arc<Mutex<Pace>>,
    failed: AtomicU64,
    /// The name of the counted things, in the singular and the plural.
    unit: (&'static str, &'static str),
    /// Whether each piece has a line.
    verbose: bool,
}

struct Pace {
    eta: Eta,
    /// The time of the last line in the log, and the interval to the next.
    logged: Instant,
    log_every: Duration,
}

impl Pace {
    fn new(work: Duration) -> Self {
        Self {
            eta: Eta::new(work),
            logged: Instant::now(),
            log_every: (work / LOG_SHARE).clamp(LOG_LEAST, LOG_MOST),
        }
    }

    fn is_due(&self) -> bool {
        self.logged.elapsed() >= self.log_every
    }
}

/// Formats the elapsed time for a bar's template.
pub(crate) fn spent(state: &ProgressState, to: &mut dyn Write) {
    // An error in drawing a bar is harmless.
    let _ = to.write_str(&exact(state.elapsed()));
}

fn lock(pace: &Mutex<Pace>) -> MutexGuard<'_, Pace> {
    pace.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Progress {
    /// Returns progress that counts pieces of work, and shows each piece if the user wants it.
    pub(crate) fn counting(output: &Output, unit: (&'static str, &'static str)) -> Self {
        let shown = Shown::on_stderr(output.quiet);
        let template = format!(
            "{{bar:30}} {{pos}}/{{len}} {}  {{spent}}, {{left}} left  {{msg}}",
            unit.1
        );
        let pace = Arc::new(Mutex::new(Pace::new(Duration::ZERO)));
        let bar = shown.bar(&template);
        let (style, told) = (bar.style(), Arc::clone(&pace));
        bar.set_style(style.with_key("spent", spent).with_key(
            "left",
            move |state: &ProgressState, to: &mut dyn Write| {
                let left = lock(&told).eta.left(state.elapsed());
                // An error in drawing a bar is harmless.
                let _ = to.write_str(&about(left));
            },
        ));
        Self {
            shown,
            bar,
            pace,
            failed: AtomicU64::new(0),
            unit,
            verbose: output.verbose,
        }
    }

    fn counted(&self, number: u64) -> String {
        count(number, self.unit.0, self.unit.1)
    }

    pub(crate) fn stage(&self, what: &str) {
        self.shown.line(&self.bar, what);
    }

    /// Begins to count to `all`, from `done` earlier pieces; the remaining pieces were estimated to take `work`.
    pub(crate) fn begin(&self, all: u64, done: u64, work: Duration) {
        *lock(&self.pace) = Pace::new(work);
        self.bar.reset();
        self.bar.set_length(all);
        self.bar.set_position(done);
        self.failed.store(0, Ordering::Relaxed);
        match self.shown {
            Shown::Nowhere => {}
            Shown::Bar => self.bar.enable_steady_tick(Duration::from_millis(200)),
            Shown::Log => {
                let left = self.counted(all.saturating_sub(done));
                self.stage(&format!("{left} to go, about {}", about(work)));
            }
        }
    }

    /// Counts a piece that has ended, and prints a line for it if the user wants it. The line contains words of servers
    /// and workers.
    pub(crate) fn ended(&self, told: impl FnOnce() -> String, failed: bool, piece: Piece) {
        if self.verbose {
            self.stage(&told().escape_debug().to_string());
        }
        // A bar that is drawn locks itself and then the pace.
        let elapsed = self.bar.elapsed();
        lock(&self.pace).eta.advance(piece, elapsed);
        let failed = self.failed.fetch_add(failed.into(), Ordering::Relaxed) + u64::from(failed);
        let failed = match failed {
            0 => String::new(),
            failed => format!("{failed} failed"),
        };
        // The bar calls for the remaining time while it is drawn, so that the lock must not be held here.
        self.bar.inc(1);
        self.bar.set_message(failed.clone());
        if self.shown == Shown::Log {
            let (done, all) = (self.bar.position(), self.bar.length().unwrap_or(0));
            let mut pace = lock(&self.pace);
            if pace.is_due() || done == all {
                pace.logged = Instant::now();
                let mut line = format!("{done} of {}", self.counted(all));
                line += &format!(", {} elapsed", exact(elapsed));
                if done < all {
                    line += &format!(", about {} left", about(pace.eta.left(elapsed)));
                }
                if !failed.is_empty() {
                    line += &format!(", {failed}");
                }
                self.stage(&line);
            }
        }
    }

    /// Changes the number of remaining pieces.
    pub(crate) fn change(&self, left: impl FnOnce(u64) -> u64) {
        let done = self.bar.position();
        let before = self.bar.length().unwrap_or(0).saturating_sub(done);
        let after = left(before);
        let share = after as f64 / before.max(1) as f64;
        lock(&self.pace).eta.rescale(share);
        self.bar.set_length(done + after);
    }

    pub(crate) fn end(&self) {
        self.bar.finish_and_clear();
    }
}

/// Returns the name of a sample's outcome in the run's file.
pub(crate) fn outcome_of(sample: &impl serde::Serialize) -> String {
    let sample = serde_json::to_value(sample).unwrap_or_default();
    let outcome = match &sample["outcome"] {
        serde_json::Value::Object(outcome) => outcome.get("outcome"),
        outcome => Some(outcome),
    };
    let word = outcome.and_then(serde_json::Value::as_str);
    word.unwrap_or("done").to_owned()
}
