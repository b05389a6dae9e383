//! The parts of an evaluation, and their steps.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    sync::Arc,
};

use anyhow::Context;
use netbench_model::{EvaluationPlan, Manifest, Plan, Record, RootsSource, Target};
use netbench_report::{Found, Report};
use netbench_store::{RunFolder, read_file};

use crate::{
    client::{Header, Unstored},
    stored::{note_repeated, wrong},
};

pub(crate) struct Part {
    /// The part's name, and that of its folder.
    pub(crate) name: &'static str,
    /// The operation that the workers of both stacks must support for the part, if any.
    pub(crate) needs: Option<&'static str>,
    /// Returns the part's steps, in order.
    pub(crate) steps: fn(&EvaluationPlan) -> Result<Steps, Unsupported>,
    /// Returns arguments of the steps that are not stored, and that every session gives anew.
    pub(crate) unstored: fn(&Unstored) -> Vec<OsString>,
    /// Reads the files that the steps have left in the part's folder.
    pub(crate) collect: Collect,
}

impl Unstored {
    /// Returns the arguments for `scan`.
    pub(super) fn of_scan(&self) -> Vec<OsString> {
        let files = [
            ("--client-cert", &self.identity.client_cert),
            ("--client-key", &self.identity.client_key),
        ];
        let given = files.iter().filter_map(|(option, file)| {
            let file = file.as_ref()?;
            Some([OsString::from(option), file.into()])
        });
        given.flatten().collect()
    }

    /// Returns the arguments for `connect`.
    pub(super) fn of_connect(&self) -> Vec<OsString> {
        let header = |header: &Header| {
            let text = format!("{}: {}", header.name, header.value);
            [OsString::from("--header"), text.into()]
        };
        let headers = self.header.iter().flat_map(header);
        self.of_scan().into_iter().chain(headers).collect()
    }
}

/// Reads the files that the steps of a part have left in its folder: their results, and the reports of their runs.
pub(crate) type Collect =
    fn(&Path, &EvaluationPlan, &mut Found, &mut Vec<Box<dyn Report>>) -> anyhow::Result<()>;

pub(crate) struct Steps {
    pub(crate) steps: Vec<Step>,
    /// Facts about the method that a reader must know.
    pub(crate) notes: Vec<String>,
}

/// The option by which the user's consent is passed to a step.
pub(crate) const AGREED: &str = "--yes";

/// The folder of a part that is one run.
pub(super) const RUN: &str = "run";

impl Steps {
    /// Returns the steps for commands that make one run each, in folders of these names.
    pub(super) fn runs<const N: usize>(runs: [(&'static str, Vec<OsString>); N]) -> Self {
        let step = |(folder, arguments)| Step {
            arguments,
            results: Results::Run(folder),
            only_if: None,
        };
        Self {
            steps: runs.map(step).into(),
            notes: Vec::new(),
        }
    }
}

pub(crate) struct Step {
    /// The step's arguments, except those for the place of its results.
    pub(crate) arguments: Vec<OsString>,
    pub(crate) results: Results,
    /// Decides whether the step is needed, by the results of earlier steps in the part's folder; `None` for always.
    pub(crate) only_if: Option<OnlyIf>,
}

/// A function that returns the reason why a step is needed, in words for the progress, or `None` if it is not needed.
pub(crate) type OnlyIf = fn(&Path, &EvaluationPlan) -> anyhow::Result<Option<&'static str>>;

/// The place of a step's results, under the part's folder.
pub(crate) enum Results {
    /// The step's output goes into a file of this name.
    Printed(&'static str),
    /// The step makes a run in a folder of this name.
    Run(&'static str),
}

/// The reason why these stacks or this machine do not support a part.
pub(crate) struct Unsupported(pub(crate) String);

/// Returns the only run in a folder, if it has begun.
pub(crate) fn run_in(folder: &Path) -> Option<RunFolder> {
    let mut runs: Vec<PathBuf> = std::fs::read_dir(folder)
        .ok()?
        .flatten()
        .map(|entry| entry.path())
        .collect();
    runs.sort();
    let run = runs.iter().find_map(|path| RunFolder::open(path).ok())?;
    // An unreadable file is an error of the part that reads it.
    let _ = note_repeated(&run);
    Some(run)
}

/// Summarizes the run in `folder`, if there is one: for the answers, and as a section of the report.
pub(super) fn sum_up<P: Plan, R: Record, S: Report + Clone + 'static>(
    folder: &Path,
    summarize: impl FnOnce(&Manifest<P>, Vec<R>) -> S,
    found: &mut Option<Arc<S>>,
    runs: &mut Vec<Box<dyn Report>>,
) -> anyhow::Result<()> {
    if let Some(run) = run_in(folder) {
        let manifest = run.manifest().map_err(wrong)?;
        let samples = run.records().map_err(wrong)?;
        let summary = summarize(&manifest, samples);
        *found = Some(Arc::new(summary.clone()));
        runs.push(Box::new(summary));
    }
    Ok(())
}

/// Reads a file that a step printed, or returns `None` if the step was not reached.
pub(super) fn printed<T: serde::de::DeserializeOwned>(path: &Path) -> anyhow::Result<Option<T>> {
    let Some(bytes) = read_file(path).map_err(wrong)? else {
        return Ok(None);
    };
    let read = serde_json::from_slice(&bytes);
    read.map(Some)
        .with_context(|| format!("{}: not what the part prints", path.display()))
}

/// Returns the arguments of a command line whose words are separated by spaces.
pub(super) fn words(words: &str) -> Vec<OsString> {
    words.split(' ').map(OsString::from).collect()
}

/// Returns the arguments that are common to all parts which start workers: the stacks, the seed, and the user's
/// workers.
pub(super) fn common_arguments(plan: &EvaluationPlan, stacks: &str) -> Vec<OsString> {
    let names = format!("{},{}", plan.from.stack(), plan.to.stack());
    let mut arguments: Vec<OsString> = vec![stacks.into(), names.into()];
    arguments.extend(["--seed".into(), plan.seed.to_string().into()]);
    // The user has agreed to the whole evaluation.
    arguments.push(AGREED.into());
    arguments.extend(worker_arguments(plan));
    arguments
}

/// Returns the arguments for the user's workers.
pub(super) fn worker_arguments(plan: &EvaluationPlan) -> Vec<OsString> {
    let mut arguments = Vec::new();
    for (stack, program) in &plan.workers {
        arguments.extend(["--worker".into(), format!("{stack}={program}").into()]);
    }
    arguments
}

/// Returns the arguments that are common to the parts with sites.
pub(super) fn site_arguments(plan: &EvaluationPlan) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = plan.urls.iter().map(OsString::from).collect();
    let connections = &plan.connections;
    for rule in &connections.connect_to {
        arguments.extend(["--connect-to".into(), rule.to_string().into()]);
    }
    match &connections.roots {
        None | Some(RootsSource::Mozilla) => {}
        Some(RootsSource::Native) => arguments.extend(["--roots".into(), "native".into()]),
        Some(RootsSource::File(file)) => arguments.extend(["--roots".into(), file.into()]),
    }
    if let Some(file) = &plan.sites_file {
        arguments.extend(["--sites".into(), file.into()]);
    }
    if let Some(limit) = plan.limit {
        arguments.extend(["--limit".into(), limit.to_string().into()]);
    }
    if plan.target == Target::Live {
        arguments.push("--live".into());
    }
    if let Some(link) = &plan.link {
        arguments.extend(["--link".into(), link.into()]);
    }
    if let Some(profile) = plan.client_profile {
        arguments.extend(["--client-profile".into(), profile.name().into()]);
    }
    arguments
}
