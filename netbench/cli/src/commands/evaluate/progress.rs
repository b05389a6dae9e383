use std::time::{Duration, Instant};

use indicatif::ProgressBar;
use netbench_model::sanitize;

use crate::{cost::about, progress::Shown};

/// How a part goes, on stderr: a bar over the time that it was thought to take, or lines in a log.
pub(super) struct PartProgress {
    part: &'static str,
    shown: Shown,
    bar: ProgressBar,
    begun: Instant,
}

impl PartProgress {
    /// Part `number` of `parts`.
    pub(super) fn new(
        quiet: bool,
        part: &'static str,
        (number, parts): (usize, usize),
        estimate: Duration,
    ) -> Self {
        let shown = Shown::on_stderr(quiet);
        let about = about(estimate);
        let bar = shown.bar(&format!(
            "{number}/{parts} {part:<11} {{bar:20}} {{elapsed}} of about {about}  {{wide_msg}}"
        ));
        bar.set_length(estimate.as_secs().max(1));
        if shown == Shown::Log {
            let text = format!("part {number} of {parts}: {part}, about {about}");
            shown.line(&bar, &text);
        }
        Self {
            part,
            shown,
            bar,
            begun: Instant::now(),
        }
    }

    pub(super) fn line(&self, line: &str) {
        let line = sanitize(line);
        match self.shown {
            Shown::Log => self
                .shown
                .line(&self.bar, &format!("{}: {line}", self.part)),
            Shown::Bar | Shown::Nowhere => self.bar.set_message(line),
        }
    }

    pub(super) fn tick(&self) {
        let spent = self.begun.elapsed().as_secs();
        self.bar
            .set_position(spent.min(self.bar.length().unwrap_or(spent)));
        self.bar.tick();
    }

    /// The part has ended: how, in a word. Gives how long it took.
    pub(super) fn end(self, how: &str) -> Duration {
        let took = self.begun.elapsed();
        let text = format!("{}: {how} ({})", self.part, time(took));
        self.shown.line(&self.bar, &text);
        self.bar.finish_and_clear();
        took
    }
}

fn time(time: Duration) -> String {
    let seconds = time.as_secs();
    match (seconds / 60, seconds % 60) {
        (0, seconds) => format!("{seconds} s"),
        (minutes, 0) => format!("{minutes} min"),
        (minutes, seconds) => format!("{minutes} min {seconds} s"),
    }
}
