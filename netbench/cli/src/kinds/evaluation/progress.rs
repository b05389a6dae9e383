use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar};
use netbench_model::sanitize;

use crate::{
    cost::{about, exact},
    options::Output,
    progress::{Shown, spent},
};

/// The progress of a part on stderr: a bar over the predicted time, or lines in a log.
pub(super) struct PartProgress {
    part: &'static str,
    verbose: bool,
    shown: Shown,
    bar: ProgressBar,
}

impl PartProgress {
    /// Begins to show part `number` of `parts`, below the bars of those that run beside it.
    pub(super) fn new(
        output: &Output,
        part: &'static str,
        (number, parts): (usize, usize),
        estimate: Duration,
        bars: &MultiProgress,
    ) -> Self {
        let shown = shown(output);
        let about = about(estimate);
        let bar = bars.add(shown.bar(&format!(
            "{number}/{parts} {part:<11} {{bar:20}} {{spent}} of about {about}  {{wide_msg}}"
        )));
        bar.set_style(bar.style().with_key("spent", spent));
        bar.set_length(estimate.as_secs().max(1));
        if shown == Shown::Log {
            let text = format!("part {number} of {parts}: {part}, about {about}");
            shown.line(&bar, &text);
        }
        Self {
            part,
            verbose: output.verbose,
            shown,
            bar,
        }
    }

    /// Returns the option with which a part prints as much as is shown of it.
    pub(super) fn verbosity(&self) -> Option<&'static str> {
        (self.verbose).then_some("--verbose")
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
        let spent = self.bar.elapsed().as_secs();
        self.bar
            .set_position(spent.min(self.bar.length().unwrap_or(spent)));
        self.bar.tick();
    }

    /// Ends the progress of the part with a word that describes how it ended. Returns the time that
    /// the part took.
    pub(super) fn end(self, how: &str) -> Duration {
        let took = self.bar.elapsed();
        let text = format!("{}: {how} ({})", self.part, exact(took));
        self.shown.line(&self.bar, &text);
        self.bar.finish_and_clear();
        took
    }
}

/// Returns the group of the bars of parts that run at the same time.
pub(super) fn group(output: &Output) -> MultiProgress {
    shown(output).group()
}

fn shown(output: &Output) -> Shown {
    match output.verbose {
        true => Shown::Log,
        false => Shown::on_stderr(output.quiet),
    }
}
