//! The common part of the summaries of all runs.

use std::borrow::Cow;

use itertools::Itertools;
use netbench_model::{
    Manifest, Origin, Plan, SCHEMA_VERSION, StackName, Tally, Thresholds, WorkerRecord,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::text::count;

/// The fields with which every summary begins.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SummaryHead {
    /// [`SCHEMA_VERSION`] of the writer.
    pub schema: u32,
    /// The kind of the run, or of the comparison of runs. Empty in most summaries of earlier versions.
    #[serde(default)]
    pub kind: String,
    /// The seed of every random choice; absent if there is none, and in summaries of earlier versions.
    #[serde(default)]
    pub seed: Option<u64>,
    /// The limits by which the questions are answered; absent if the user sets none.
    #[serde(default, skip_serializing_if = "Thresholds::are_usual")]
    pub thresholds: Thresholds,
}

impl SummaryHead {
    pub(crate) fn of<P: Plan>(manifest: &Manifest<P>) -> Self {
        Self {
            seed: manifest.plan.random_seed(),
            thresholds: manifest.thresholds.clone(),
            ..Self::new(P::KIND.name())
        }
    }

    /// Returns the head of a summary without a seed.
    pub(crate) fn new(kind: &str) -> Self {
        Self {
            schema: SCHEMA_VERSION,
            kind: kind.to_owned(),
            seed: None,
            thresholds: Thresholds::default(),
        }
    }
}

/// The run that a summary is of.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RunHead {
    /// Its name.
    pub name: String,
    /// Start, RFC 3339, UTC.
    pub started: String,
    /// End; absent if the run was not finished.
    pub finished: Option<String>,
    /// The version of netbench.
    pub netbench: String,
    /// The command line of its first session.
    pub command: Vec<String>,
}

impl RunHead {
    pub(crate) fn of<P>(manifest: &Manifest<P>) -> Self {
        let first = manifest.sessions.first();
        Self {
            name: manifest.name.clone(),
            started: manifest.started.clone(),
            finished: manifest.finished.clone(),
            netbench: manifest.netbench.clone(),
            command: first
                .map(|session| command(&session.command, &manifest.origin))
                .unwrap_or_default(),
        }
    }

    /// Returns the origin and the date of the run, and the command that repeats it.
    pub(crate) fn again(&self, seed: Option<u64>) -> String {
        let words = self.command.iter().skip(1);
        let words = std::iter::once("netbench").chain(without(words, &["--seed"]));
        let command = words.map(quoted).join(" ");
        let (of_seed, option) = match seed {
            Some(seed) => (format!(" seed {seed},"), format!(" --seed {seed}")),
            None => Default::default(),
        };
        format!(
            "netbench {},{of_seed} started {}. To repeat it: {command}{option}",
            self.netbench, self.started
        )
    }
}

/// Quotes a word for a shell.
fn quoted(word: &str) -> Cow<'_, str> {
    // Only a NUL cannot be quoted, and no command line can contain one.
    shlex::try_quote(word).unwrap_or(Cow::Borrowed(word))
}

/// Returns the command line of a session; for a merged run, that of the whole run that was divided into shards.
fn command(line: &[String], origin: &Origin) -> Vec<String> {
    if origin.merged.is_empty() {
        return line.to_vec();
    }
    let words = without(line.iter(), &["--shard", "--vantage"]);
    words.map(str::to_owned).collect()
}

/// Returns the words of a command line without these options and their values.
fn without<'a>(
    mut words: impl Iterator<Item = &'a String>,
    options: &[&str],
) -> impl Iterator<Item = &'a str> {
    std::iter::from_fn(move || {
        loop {
            let word = words.next()?.as_str();
            match word.split_once('=') {
                _ if options.contains(&word) => drop(words.next()),
                Some((option, _)) if options.contains(&option) => {}
                _ => return Some(word),
            }
        }
    })
}

/// Describes a stack: its library, its provider, and the additional property of its worker.
pub(crate) fn about_stack<'a>(
    workers: &'a [WorkerRecord],
    stack: &StackName,
    more: impl FnOnce(&'a WorkerRecord) -> Option<&'a String>,
) -> String {
    let worker = workers.iter().find(|worker| worker.stack == stack.stack());
    worker.map_or_else(String::new, |worker| about_worker(worker, more(worker)))
}

/// Describes the stack of a worker: its library, its provider, and an additional property.
pub(crate) fn about_worker(worker: &WorkerRecord, more: Option<&String>) -> String {
    let parts = [Some(&worker.library), worker.provider.as_ref(), more];
    parts.into_iter().flatten().join(", ")
}

/// Returns the warnings about a run whose samples differ from the planned ones.
pub(crate) fn incomplete<P>(manifest: &Manifest<P>, tally: &Tally) -> Vec<String> {
    let mut words = Vec::new();
    let missing = tally.missing();
    if manifest.finished.is_some() && missing > 0 {
        let again = if manifest.origin.merged.is_empty() {
            ": `netbench run` takes them"
        } else {
            ""
        };
        words.push(format!(
            "{} of {} missing, though the run was finished{again}",
            missing,
            count(tally.planned, "sample", "samples")
        ));
    }
    if tally.foreign > 0 {
        words.push(format!(
            "{} of other sites, stacks or rounds than the run's are left out",
            count(tally.foreign, "sample", "samples")
        ));
    }
    words
}

/// Returns the run's shard of the sites, or the runs from which it was merged.
pub(crate) fn origin(origin: &Origin) -> Option<String> {
    if let Some(part) = origin.shard {
        return Some(format!(
            "Shard {} of {}; `netbench runs merge` merges it with the others.",
            part.shard,
            count(part.whole_sites, "site", "sites")
        ));
    }
    let runs = origin.merged.len();
    (runs > 0).then(|| {
        let shards = origin.merged.iter().filter(|run| run.shard.is_some());
        format!(
            "Merged from {runs} runs, {} of them shards, from {}.",
            shards.count(),
            origin.vantages().into_iter().join(", ")
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_that_repeats_a_run_has_its_seed_if_there_is_one() {
        let run = RunHead {
            started: "now".to_owned(),
            netbench: "1.0".to_owned(),
            command: ["netbench", "suite", "--seed", "3", "a b"]
                .map(str::to_owned)
                .to_vec(),
            ..RunHead::default()
        };
        for (seed, text) in [
            (
                Some(7),
                "netbench 1.0, seed 7, started now. To repeat it: netbench suite 'a b' --seed 7",
            ),
            (
                None,
                "netbench 1.0, started now. To repeat it: netbench suite 'a b'",
            ),
        ] {
            assert_eq!(run.again(seed), text);
        }
    }
}
