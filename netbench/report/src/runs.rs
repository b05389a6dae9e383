use std::cmp::Reverse;

use netbench_model::SCHEMA_VERSION;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    document::{Document, Extent, Item, Report, Section, Table},
    text::{bytes, count},
};

/// The runs that are kept in a folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RunsSummary {
    /// The schema's version.
    pub schema: u32,
    /// The searched folders.
    pub folders: Vec<String>,
    /// The runs in the folders, the newest first, and unreadable ones last.
    pub runs: Vec<RunRow>,
}

/// A kept run, or a folder that should contain one.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct RunRow {
    /// The path.
    #[schemars(extend("x-key" = "item"))]
    pub path: String,
    /// The kind of the run: `connect`, `suite`; empty if it cannot be read.
    pub kind: String,
    /// Start, RFC 3339, UTC; empty if it cannot be read.
    pub started: String,
    /// End; absent if the run was not finished.
    pub finished: Option<String>,
    /// The stacks.
    pub stacks: Vec<String>,
    /// Number of sites, or of scenarios of the suite.
    pub sites: u64,
    /// Number of samples, measured and others.
    pub samples: u64,
    /// Number of samples that a finished run should have and has no more.
    #[serde(default)]
    pub missing: u64,
    /// Size of all its files, in bytes.
    pub bytes: u64,
    /// The shard, or the number of runs from which it was merged.
    pub part: Option<String>,
    /// The problem with the run, if there is one.
    pub problem: Option<String>,
}

impl RunsSummary {
    /// Returns a summary with these rows, sorted.
    pub fn new(folders: Vec<String>, mut runs: Vec<RunRow>) -> Self {
        runs.sort_by_key(|run| {
            let started = run.started.clone();
            (started.is_empty(), Reverse(started), run.path.clone())
        });
        Self {
            schema: SCHEMA_VERSION,
            folders,
            runs,
        }
    }
}

impl Report for RunsSummary {
    fn document(&self, _: Extent) -> Document<'_> {
        let all: u64 = self.runs.iter().map(|run| run.bytes).sum();
        let started = self.runs.iter().filter(|run| !run.started.is_empty());
        let table = Table::of(started)
            .text("run", 0, |run| &run.path)
            .text("kind", 1, |run| &run.kind)
            .text("started", 3, |run| &run.started)
            .text("stacks", 2, |run| run.stacks.join(", "))
            .count("sites", 4, |run| run.sites)
            .count("samples", 3, |run| run.samples)
            .bytes("size", 1, |run| run.bytes as f64)
            .text("state", 0, |run| state(run));
        let mut items = vec![table.item()];
        let problems = self.runs.iter().filter_map(|run| run.problem.clone());
        items.extend(problems.map(Item::Warning));
        let title = format!("Runs in {}", self.folders.join(", "));
        let runs = count(self.runs.len(), "run", "runs");
        Document {
            lead: format!("{runs}, {}.", bytes(all as f64)),
            ..Document::of_section("results", title, Section::only(items), self)
        }
    }
}

fn state(run: &RunRow) -> String {
    let state = match (&run.problem, &run.finished) {
        (Some(_), _) => "broken",
        (None, Some(_)) if run.missing > 0 => {
            &format!("{} missing", count(run.missing, "sample", "samples"))
        }
        (None, Some(_)) => "finished",
        (None, None) => "unfinished",
    };
    match &run.part {
        Some(part) => format!("{state}, {part}"),
        None => state.to_owned(),
    }
}
