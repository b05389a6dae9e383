//! The parts of an evaluation. A new part is a file here and a line in [`PARTS`].

mod connections;
mod features;
mod sites;
mod suite;

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::Context;
use netbench_model::{EvaluationPlan, Target};
use netbench_report::Found;
use netbench_store::RunFolder;

use crate::kept::Kept;

/// A part.
pub(super) struct Part {
    /// Its name, and that of its folder.
    pub(super) name: &'static str,
    /// About how long it takes, once everything is built.
    pub(super) estimate: fn(&EvaluationPlan) -> Duration,
    /// What is run for it, in order.
    pub(super) steps: fn(&EvaluationPlan) -> Result<Steps, Unsupported>,
    /// Reads what the steps have left in the part's folder.
    pub(super) collect:
        fn(&Path, &EvaluationPlan, &mut Found, &mut Vec<Kept>) -> anyhow::Result<()>,
}

/// All parts, in the order in which they are run: what is quick and needs a machine at leisure least
/// comes first.
pub(super) const PARTS: [Part; 4] = [features::PART, sites::PART, connections::PART, suite::PART];

/// What is run for a part.
pub(super) struct Steps {
    /// Each a command of netbench.
    pub(super) steps: Vec<Step>,
    /// What a reader must know of how it is done.
    pub(super) notes: Vec<String>,
}

/// The folder of a part that is one run.
const RUN: &str = "run";

impl Steps {
    /// One command, which makes one run.
    fn one_run(arguments: Vec<OsString>) -> Self {
        Self {
            steps: vec![Step {
                arguments,
                results: Results::Run(RUN),
            }],
            notes: Vec::new(),
        }
    }
}

/// One command of netbench.
pub(super) struct Step {
    /// Its arguments, but for where its results go.
    pub(super) arguments: Vec<OsString>,
    /// Where its results go.
    pub(super) results: Results,
}

/// Where the results of a step go, under the part's folder.
pub(super) enum Results {
    /// What it prints goes into a file of this name.
    Printed(&'static str),
    /// It makes a run in a folder of this name.
    Run(&'static str),
}

/// A part that these stacks or this machine cannot do, and why.
pub(super) struct Unsupported(pub(super) String);

/// The one run in a folder, if it has been begun.
pub(super) fn run_in(folder: &Path) -> Option<RunFolder> {
    let mut runs: Vec<PathBuf> = std::fs::read_dir(folder)
        .ok()?
        .flatten()
        .map(|entry| entry.path())
        .collect();
    runs.sort();
    runs.iter().find_map(|path| RunFolder::open(path).ok())
}

/// Reads the one run in a folder, if it has been begun, and has `find` take what the part is for from it.
fn read_run(folder: &Path, runs: &mut Vec<Kept>, find: impl FnOnce(&Kept)) -> anyhow::Result<()> {
    if let Some(run) = run_in(folder) {
        let kept = Kept::read(run.path())?;
        find(&kept);
        runs.push(kept);
    }
    Ok(())
}

/// Reads a file that a step printed; none where it was not reached.
fn printed<T: serde::de::DeserializeOwned>(path: &Path) -> anyhow::Result<Option<T>> {
    let bytes = match std::fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error).context(format!("cannot read {}", path.display())),
    };
    let read = serde_json::from_slice(&bytes);
    read.map(Some)
        .with_context(|| format!("{}: not what the part prints", path.display()))
}

/// Both stacks, as commands take them.
fn stacks(plan: &EvaluationPlan) -> String {
    format!("{},{}", plan.from.stack(), plan.to.stack())
}

/// The arguments that the parts with sites share.
fn about_sites(plan: &EvaluationPlan) -> Vec<OsString> {
    let mut arguments = Vec::new();
    if let Some(file) = &plan.sites_file {
        arguments.extend(["--sites".into(), file.into()]);
    }
    if let Some(limit) = plan.limit {
        arguments.extend(["--limit".into(), limit.to_string().into()]);
    }
    if plan.target == Target::Live {
        arguments.push("--live".into());
    }
    arguments
}

/// The arguments that the parts with workers share.
fn about_workers(plan: &EvaluationPlan) -> Vec<OsString> {
    let worker = |(stack, program): &(String, String)| -> [OsString; 2] {
        ["--worker".into(), format!("{stack}={program}").into()]
    };
    plan.workers.iter().flat_map(worker).collect()
}

/// Arguments from words.
fn words<const N: usize>(words: [&str; N]) -> Vec<OsString> {
    words.map(OsString::from).to_vec()
}
