//! What the summaries of all runs have in common.

use std::borrow::Cow;

use itertools::Itertools;
use netbench_model::{Manifest, Origin, StackName, Tally, WorkerRecord};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::text::count;

/// Which run a summary is of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RunHead {
    /// Its name.
    pub name: String,
    /// Start, RFC 3339, UTC.
    pub started: String,
    /// End; none where it was not finished.
    pub finished: Option<String>,
    /// The version of netbench.
    pub netbench: String,
    /// The command line of its first session.
    pub command: Vec<String>,
    /// The seed.
    pub seed: u64,
}

impl RunHead {
    pub(crate) fn of<P>(manifest: &Manifest<P>, seed: u64) -> Self {
        let first = manifest.sessions.first();
        Self {
            name: manifest.name.clone(),
            started: manifest.started.clone(),
            finished: manifest.finished.clone(),
            netbench: manifest.netbench.clone(),
            command: first
                .map(|session| command(&session.command, &manifest.origin))
                .unwrap_or_default(),
            seed,
        }
    }

    /// By what and when it was made, and how to make it again.
    pub(crate) fn again(&self) -> String {
        let mut words = vec!["netbench"];
        let mut rest = self.command.iter().skip(1);
        while let Some(word) = rest.next() {
            if word == "--seed" {
                rest.next();
            } else if !word.starts_with("--seed=") {
                words.push(word);
            }
        }
        format!(
            "netbench {}, seed {seed}, started {}. To repeat it: {} --seed {seed}",
            self.netbench,
            self.started,
            words.into_iter().map(quoted).join(" "),
            seed = self.seed,
        )
    }
}

/// A word as a shell takes it.
fn quoted(word: &str) -> Cow<'_, str> {
    // Only a NUL has no such form, and no command line can have one.
    shlex::try_quote(word).unwrap_or(Cow::Borrowed(word))
}

/// The command line of the last session.
pub(crate) fn last_command<P>(manifest: &Manifest<P>) -> Vec<String> {
    let last = manifest.sessions.last();
    last.map(|session| command(&session.command, &manifest.origin))
        .unwrap_or_default()
}

/// The command line of a session; of a merged run, that of the whole that its shards are of.
pub(crate) fn command(line: &[String], origin: &Origin) -> Vec<String> {
    if origin.merged.is_empty() {
        return line.to_vec();
    }
    let mut words = line.iter();
    let mut kept = Vec::new();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--shard" | "--vantage" => drop(words.next()),
            word if word.starts_with("--shard=") || word.starts_with("--vantage=") => {}
            word => kept.push(word.to_owned()),
        }
    }
    kept
}

/// What a stack is made of: its library, provider, and what else is asked for of its worker.
pub(crate) fn about_stack<'a>(
    workers: &'a [WorkerRecord],
    stack: &StackName,
    more: impl FnOnce(&'a WorkerRecord) -> Option<&'a String>,
) -> String {
    let Some(worker) = workers.iter().find(|worker| worker.stack == stack.stack()) else {
        return String::new();
    };
    let parts = [
        Some(&worker.library),
        worker.provider.as_ref(),
        more(worker),
    ];
    parts.into_iter().flatten().join(", ")
}

/// What to say of a run whose samples are not those that it was to take.
pub(crate) fn incomplete<P>(manifest: &Manifest<P>, tally: &Tally) -> Vec<String> {
    let mut words = Vec::new();
    let missing = tally.missing();
    if manifest.finished.is_some() && missing > 0 {
        let again = if manifest.origin.merged.is_empty() {
            ": `--resume` takes them"
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

/// Which part of the sites it is, or of which runs it was merged.
pub(crate) fn origin(origin: &Origin) -> Option<String> {
    if let Some(part) = origin.shard {
        return Some(format!(
            "Shard {} of {}; `netbench merge` merges it with the others.",
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
