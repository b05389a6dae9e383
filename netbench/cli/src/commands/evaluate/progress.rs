use std::{
    io::{IsTerminal, stderr},
    time::{Duration, Instant},
};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use netbench_model::sanitize;

/// How a part goes, on stderr: a bar over the time that it was thought to take, or lines in a log.
pub(super) struct PartProgress {
    part: &'static str,
    show: Show,
    begun: Instant,
    estimate: Duration,
}

enum Show {
    Nothing,
    Bar(ProgressBar),
    Log,
}

impl PartProgress {
    /// Part `number` of `parts`.
    pub(super) fn new(
        quiet: bool,
        part: &'static str,
        (number, parts): (usize, usize),
        estimate: Duration,
    ) -> Self {
        let show = if quiet {
            Show::Nothing
        } else if stderr().is_terminal() {
            let seconds = estimate.as_secs().max(1);
            let bar = ProgressBar::with_draw_target(Some(seconds), ProgressDrawTarget::stderr());
            let template = format!(
                "{number}/{parts} {part:<11} {{bar:20}} {{elapsed}} of about {}  {{wide_msg}}",
                time(estimate)
            );
            if let Ok(style) = ProgressStyle::with_template(&template) {
                bar.set_style(style);
            }
            Show::Bar(bar)
        } else {
            let about = time(estimate);
            note!("netbench: part {number} of {parts}: {part}, about {about}");
            Show::Log
        };
        Self {
            part,
            show,
            begun: Instant::now(),
            estimate,
        }
    }

    /// What the part says.
    pub(super) fn line(&self, line: &str) {
        let line = sanitize(line);
        match &self.show {
            Show::Nothing => {}
            Show::Bar(bar) => bar.set_message(line),
            Show::Log => note!("netbench: {}: {line}", self.part),
        }
    }

    /// Time goes on.
    pub(super) fn tick(&self) {
        if let Show::Bar(bar) = &self.show {
            bar.set_position(self.begun.elapsed().min(self.estimate).as_secs());
            bar.tick();
        }
    }

    /// The part has ended: how, in a word. Gives how long it took.
    pub(super) fn end(self, how: &str) -> Duration {
        let took = self.begun.elapsed();
        match self.show {
            Show::Nothing => {}
            Show::Bar(bar) => {
                bar.println(format!("netbench: {}: {how} ({})", self.part, time(took)));
                bar.finish_and_clear();
            }
            Show::Log => note!("netbench: {}: {how} ({})", self.part, time(took)),
        }
        took
    }
}

/// Minutes and seconds.
pub(super) fn time(time: Duration) -> String {
    let seconds = time.as_secs();
    match (seconds / 60, seconds % 60) {
        (0, seconds) => format!("{seconds} s"),
        (minutes, 0) => format!("{minutes} min"),
        (minutes, seconds) => format!("{minutes} min {seconds} s"),
    }
}
