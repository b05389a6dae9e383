//! Parts that run at the same time: those that measure no time share the machine, each of the others has it alone.

use std::{
    path::Path,
    sync::{atomic::AtomicBool, mpsc},
    thread,
    time::Duration,
};

use indicatif::MultiProgress;
use netbench_model::{EvaluationManifest, EvaluationPlan, PartRecord, PartState};
use netbench_store::RunFolder;

use super::{
    parts::{self, Part, Steps},
    progress::{self, PartProgress},
    step, waits,
};
use crate::{client::Unstored, exit::in_a_line, options::Output};

/// Returns the indices of the next part of the plan that waits, at `at` or after it, and of the following ones that can
/// run beside it. Parts that need no worker are not in one batch with those that do.
pub(super) fn from(plan: &EvaluationPlan, at: usize) -> Vec<usize> {
    let waiting = plan.parts.iter().enumerate().skip(at);
    let mut waiting = waiting
        .filter(|(_, record)| waits(&record.state))
        .filter_map(|(at, record)| Some((at, parts::named(&record.part)?)));
    let Some((at, first)) = waiting.next() else {
        return Vec::new();
    };
    let others = waiting
        .take_while(|(_, other)| first.runs_beside(other))
        .map(|(at, _)| at);
    [at].into_iter().chain(others).collect()
}

/// Predicts the time of all parts that wait.
pub(super) fn time(plan: &EvaluationPlan) -> Duration {
    let mut seconds = 0;
    let mut batch = from(plan, 0);
    while let Some(last) = batch.last() {
        let times = batch.iter().map(|at| plan.parts[*at].estimate_s);
        seconds += times.max().unwrap_or_default();
        batch = from(plan, last + 1);
    }
    Duration::from_secs(seconds)
}

/// An evaluation whose parts run.
pub(super) struct Running<'a> {
    pub(super) folder: &'a RunFolder,
    pub(super) manifest: &'a EvaluationManifest,
    pub(super) unstored: &'a Unstored,
    pub(super) output: &'a Output,
    pub(super) stop: &'a AtomicBool,
}

impl Running<'_> {
    /// Runs the parts with these indices at the same time, the first of which is part `number` of `parts`. Calls `ended`
    /// with the index of each when it ends, and its record.
    ///
    /// # Errors
    /// Returns the first error of `ended`, after all parts have ended.
    pub(super) fn run(
        &self,
        batch: &[usize],
        (number, parts): (usize, usize),
        mut ended: impl FnMut(usize, PartRecord) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let bars = progress::group(self.output);
        let (sender, ends) = mpsc::channel();
        thread::scope(|scope| {
            for (number, at) in (number..).zip(batch) {
                let (sender, bars) = (sender.clone(), &bars);
                scope.spawn(move || {
                    if let Some(record) = self.part(*at, (number, parts), bars) {
                        // The receiver waits until every sender is gone.
                        let _received = sender.send((*at, record));
                    }
                });
            }
            drop(sender);
            let results: Vec<_> = ends.iter().map(|(at, record)| ended(at, record)).collect();
            results.into_iter().collect()
        })
    }

    /// Runs the part with this index, and returns its record, or `None` for a part that this version does not know.
    fn part(&self, at: usize, numbers: (usize, usize), bars: &MultiProgress) -> Option<PartRecord> {
        let record = &self.manifest.plan.parts[at];
        let part = parts::named(&record.part)?;
        let estimate = Duration::from_secs(record.estimate_s);
        let progress = PartProgress::new(self.output, part.name, numbers, estimate, bars);
        let (state, notes) = self.steps(part, &progress);
        let took = progress.end(words(&state));
        Some(PartRecord {
            took_s: Some(record.took_s.unwrap_or(0) + took.as_secs()),
            state,
            notes,
            ..record.clone()
        })
    }

    /// Runs the steps of a part. Returns its state, and facts about the method that a reader must know.
    fn steps(&self, part: &Part, progress: &PartProgress) -> (PartState, Vec<String>) {
        let steps = match (part.steps)(&self.manifest.plan, self.unstored) {
            Ok(steps) => steps,
            Err(why) => return (PartState::Unsupported { why }, Vec::new()),
        };
        let place = self.folder.path().join(part.name);
        let state = self.all(&steps, &place, progress);
        let state = state.unwrap_or_else(|error| PartState::Failed {
            why: in_a_line(&error),
        });
        (state, steps.notes)
    }

    /// Runs steps in the folder of their part until one is not completed.
    fn all(
        &self,
        steps: &Steps<'_>,
        place: &Path,
        progress: &PartProgress,
    ) -> anyhow::Result<PartState> {
        let (manifest, stop) = (self.manifest, self.stop);
        let plan = &manifest.plan;
        let workers: Vec<String> = plan
            .workers
            .iter()
            .flat_map(|(stack, program)| ["--worker".to_owned(), format!("{stack}={program}")])
            .collect();
        for step in &steps.steps {
            match step.only_if.map(|needed| needed(place, plan)).transpose()? {
                None => {}
                Some(Some(why)) => progress.line(why),
                Some(None) => continue,
            }
            let state = step::step(step, &workers, &manifest.thresholds, place, stop, progress)?;
            if state != PartState::Done {
                return Ok(state);
            }
        }
        Ok(PartState::Done)
    }
}

fn words(state: &PartState) -> &'static str {
    match state {
        PartState::Pending => "not begun",
        PartState::Done => "done",
        PartState::Interrupted => "interrupted",
        PartState::Failed { .. } => "failed",
        PartState::Unsupported { .. } => "unsupported",
        PartState::LeftOut => "left out",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Returns the batches and the predicted time of a plan with these parts, each with its time in seconds.
    fn batches(parts: &[(&str, &str, u64)]) -> (Vec<Vec<usize>>, u64) {
        let parts: Vec<_> = parts
            .iter()
            .map(|(part, state, time_s)| json!({"part": part, "state": {"state": state}, "estimate_s": time_s, "took_s": null, "notes": []}))
            .collect();
        let plan: EvaluationPlan = serde_json::from_value(json!({
            "from": "openssl", "to": "rustls-aws-lc", "depth": "quick", "target": "lab",
            "sites_file": null, "limit": null, "sites": 1, "seed": 1, "workers": [], "parts": parts,
        }))
        .unwrap();
        let mut batches = Vec::new();
        let mut batch = from(&plan, 0);
        while let Some(last) = batch.last() {
            let at = last + 1;
            batches.push(batch);
            batch = from(&plan, at);
        }
        (batches, time(&plan).as_secs())
    }

    #[test]
    fn parts_that_measure_times_run_alone() {
        let all = [
            ("features", "pending", 1),
            ("compat", "pending", 21),
            ("sites", "pending", 30),
            ("browsers", "pending", 40),
            ("connections", "pending", 90),
            ("suite", "pending", 80),
        ];
        assert_eq!(
            batches(&all),
            (vec![vec![0], vec![1, 2], vec![3], vec![4], vec![5]], 241)
        );
        // In evaluations of earlier versions, browsers came before the sites.
        let earlier = [all[1], all[3], all[2], all[4]];
        assert_eq!(
            batches(&earlier),
            (vec![vec![0], vec![1], vec![2], vec![3]], 181)
        );
        let left_out = [
            ("compat", "pending", 21),
            ("browsers", "left-out", 0),
            ("unknown", "pending", 9),
            ("sites", "interrupted", 30),
            ("suite", "done", 80),
        ];
        assert_eq!(batches(&left_out), (vec![vec![0, 3]], 30));
        assert_eq!(batches(&[]), (Vec::new(), 0));
    }
}
