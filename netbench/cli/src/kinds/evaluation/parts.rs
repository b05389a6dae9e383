//! What parts of an evaluation are made of.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::Context;
use netbench_model::{EvaluationPlan, Target};
use netbench_report::{Found, Report};
use netbench_store::RunFolder;

pub(crate) struct Part {
    /// Its name, and that of its folder.
    pub(crate) name: &'static str,
    /// About how long it takes, once everything is built.
    pub(crate) estimate: fn(&EvaluationPlan) -> Duration,
    /// What is run for it, in order.
    pub(crate) steps: fn(&EvaluationPlan) -> Result<Steps, Unsupported>,
    /// Reads what the steps have left in the part's folder.
    pub(crate) collect: Collect,
}

/// Reads what the steps of a part have left in its folder: what they found, and the reports of their runs.
pub(crate) type Collect =
    fn(&Path, &EvaluationPlan, &mut Found, &mut Vec<Box<dyn Report>>) -> anyhow::Result<()>;

pub(crate) struct Steps {
    pub(crate) steps: Vec<Step>,
    /// What a reader must know of how it is done.
    pub(crate) notes: Vec<String>,
}

/// The folder of a part that is one run.
pub(super) const RUN: &str = "run";

impl Steps {
    /// Commands that make one run each, in folders of these names.
    pub(super) fn runs<const N: usize>(runs: [(&'static str, Vec<OsString>); N]) -> Self {
        let step = |(folder, arguments)| Step {
            arguments,
            results: Results::Run(folder),
        };
        Self {
            steps: runs.map(step).into(),
            notes: Vec::new(),
        }
    }
}

pub(crate) struct Step {
    /// Its arguments, but for where its results go.
    pub(crate) arguments: Vec<OsString>,
    pub(crate) results: Results,
}

/// Where the results of a step go, under the part's folder.
pub(crate) enum Results {
    /// What it prints goes into a file of this name.
    Printed(&'static str),
    /// It makes a run in a folder of this name.
    Run(&'static str),
}

/// A part that these stacks or this machine cannot do, and why.
pub(crate) struct Unsupported(pub(crate) String);

/// The one run in a folder, if it has been begun.
pub(crate) fn run_in(folder: &Path) -> Option<RunFolder> {
    let mut runs: Vec<PathBuf> = std::fs::read_dir(folder)
        .ok()?
        .flatten()
        .map(|entry| entry.path())
        .collect();
    runs.sort();
    runs.iter().find_map(|path| RunFolder::open(path).ok())
}

/// Reads a file that a step printed; none where it was not reached.
pub(super) fn printed<T: serde::de::DeserializeOwned>(path: &Path) -> anyhow::Result<Option<T>> {
    let bytes = match std::fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error).context(format!("cannot read {}", path.display())),
    };
    let read = serde_json::from_slice(&bytes);
    read.map(Some)
        .with_context(|| format!("{}: not what the part prints", path.display()))
}

/// Arguments from words with spaces between.
pub(super) fn words(words: &str) -> Vec<OsString> {
    words.split(' ').map(OsString::from).collect()
}

/// The arguments that all parts share which start workers: the stacks, the seed, workers of the user's own.
pub(super) fn common_arguments(plan: &EvaluationPlan, stacks: &str) -> Vec<OsString> {
    let names = format!("{},{}", plan.from.stack(), plan.to.stack());
    let mut arguments: Vec<OsString> = vec![stacks.into(), names.into()];
    arguments.extend(["--seed".into(), plan.seed.to_string().into()]);
    for (stack, program) in &plan.workers {
        arguments.extend(["--worker".into(), format!("{stack}={program}").into()]);
    }
    arguments
}

/// The arguments that the parts with sites share.
pub(super) fn site_arguments(plan: &EvaluationPlan) -> Vec<OsString> {
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
