use netbench_model::SCHEMA_VERSION;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    block::{Block, Document, Table},
    rows::Rows,
    text::plain,
};

/// The runs that are kept in a folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RunsSummary {
    /// The schema's version.
    pub schema: u32,
    /// The folders that were looked through.
    pub folders: Vec<String>,
    /// What is in them, the newest first, and what cannot be read last.
    pub runs: Vec<RunRow>,
}

/// A kept run, or what should be one.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct RunRow {
    /// Where it is.
    pub path: String,
    /// What it is of: `connect`, `suite`; empty where that cannot be read.
    pub kind: String,
    /// Start, RFC 3339, UTC; empty where that cannot be read.
    pub started: String,
    /// End; none where it was not finished.
    pub finished: Option<String>,
    /// The stacks.
    pub stacks: Vec<String>,
    /// Sites, or scenarios of the suite.
    pub sites: u64,
    /// Samples, measured and others.
    pub samples: u64,
    /// Bytes of all its files.
    pub bytes: u64,
    /// The shard, or of how many runs it was joined.
    pub part: Option<String>,
    /// What is wrong with it.
    pub problem: Option<String>,
}

impl RunsSummary {
    /// Of these rows, put into order.
    pub fn new(folders: Vec<String>, mut runs: Vec<RunRow>) -> Self {
        runs.sort_by(|a, b| {
            let broken = |run: &RunRow| run.started.is_empty();
            broken(a)
                .cmp(&broken(b))
                .then_with(|| b.started.cmp(&a.started))
                .then_with(|| a.path.cmp(&b.path))
        });
        Self {
            schema: SCHEMA_VERSION,
            folders,
            runs,
        }
    }
}

impl Document for RunsSummary {
    fn blocks(&self) -> Vec<Block> {
        let folders: Vec<String> = self.folders.iter().map(|folder| plain(folder)).collect();
        let bytes: u64 = self.runs.iter().map(|run| run.bytes).sum();
        let mut blocks = vec![
            Block::Heading(format!("Runs in {}", folders.join(", "))),
            Block::Text(format!("{} runs, {}.", self.runs.len(), size(bytes))),
        ];
        let stacks =
            |run: &RunRow| -> Vec<String> { run.stacks.iter().map(|name| plain(name)).collect() };
        let begun = self.runs.iter().filter(|run| !run.started.is_empty());
        blocks.push(
            Table::of(begun)
                .left("run", 0, |run| plain(&run.path))
                .left("kind", 1, |run| plain(&run.kind))
                .left("begun", 3, |run| plain(&run.started))
                .left("stacks", 2, |run| stacks(run).join(", "))
                .right("sites", 4, |run| run.sites.to_string())
                .right("samples", 3, |run| run.samples.to_string())
                .right("size", 1, |run| size(run.bytes))
                .left("state", 0, |run| state(run))
                .block(),
        );
        for run in &self.runs {
            if let Some(problem) = &run.problem {
                blocks.push(Block::Warning(plain(problem)));
            }
        }
        blocks
    }

    fn rows(&self, rows: &mut Rows) {
        for run in &self.runs {
            rows.about("runs", "", "", "");
            rows.text(&run.path, "kind", &run.kind);
            rows.text(&run.path, "started", &run.started);
            rows.text(&run.path, "finished", run.finished.as_deref().unwrap_or(""));
            rows.text(&run.path, "stacks", &run.stacks.join(" "));
            rows.value(&run.path, "sites", run.sites as f64, "sites");
            rows.value(&run.path, "samples", run.samples as f64, "samples");
            rows.value(&run.path, "size", run.bytes as f64, "bytes");
            rows.text(&run.path, "part", run.part.as_deref().unwrap_or(""));
            rows.text(&run.path, "problem", run.problem.as_deref().unwrap_or(""));
        }
    }
}

fn state(run: &RunRow) -> String {
    let state = match (&run.problem, &run.finished) {
        (Some(_), _) => "broken",
        (None, Some(_)) => "finished",
        (None, None) => "unfinished",
    };
    match &run.part {
        Some(part) => format!("{state}, {}", plain(part)),
        None => state.to_owned(),
    }
}

/// Bytes with a unit.
fn size(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} B"),
        1_000..1_000_000 => format!("{:.0} kB", bytes as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} MB", bytes as f64 / 1e6),
        _ => format!("{:.1} GB", bytes as f64 / 1e9),
    }
}
