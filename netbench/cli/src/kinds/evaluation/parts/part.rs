//! The parts of an evaluation, and their steps.

use std::{
    path::{Path, PathBuf},
    rc::Rc,
    sync::Arc,
    time::Duration,
};

use anyhow::Context;
use clap::{Args, Command};
use netbench_model::{EvaluationPlan, Manifest, RootsSource, Target, Thresholds};
use netbench_protocol::Operation;
use netbench_report::{Found, Report};
use netbench_store::{RunFolder, read_file};

use crate::{
    client::Unstored,
    options::{RootsOptions, SiteOptions, StackOptions, StoredIn, TargetOptions},
    pipeline::{self, Listed, Measured},
    stored::{note_repeated, wrong},
};

pub(crate) struct Part {
    /// The part's name, and that of its folder.
    pub(crate) name: &'static str,
    pub(crate) needs: Needs,
    pub(crate) load: Load,
    /// Returns the part's steps, in order, or the reason why these stacks or this machine do not support the part.
    pub(crate) steps: for<'a> fn(&'a EvaluationPlan, &'a Unstored) -> Result<Steps<'a>, String>,
    /// Reads the files that the steps have left in the part's folder.
    pub(crate) collect: fn(&Path, &EvaluationPlan, &mut Results) -> anyhow::Result<()>,
}

impl Part {
    /// Returns whether another part can run at the same time.
    pub(crate) fn runs_beside(&self, other: &Self) -> bool {
        let are_untimed = self.load == Load::Untimed && other.load == Load::Untimed;
        let (ours, theirs) = (self.needs, other.needs);
        are_untimed && (ours == Needs::Nothing) == (theirs == Needs::Nothing)
    }
}

/// The workers that a part needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Needs {
    /// No worker: the part has results before anything is built.
    Nothing,
    /// The workers of both stacks.
    Workers,
    /// Workers of both stacks that support this operation.
    Operation(Operation),
}

/// Whether a part measures times, and needs an idle machine for them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Load {
    /// The part measures no time: others that measure none can run beside it.
    Untimed,
    /// The part measures times, and runs alone.
    Timed,
}

/// The results of an evaluation's parts, and the reports of their runs.
#[derive(Default)]
pub(crate) struct Results {
    pub(super) found: Found,
    pub(super) runs: Vec<Box<dyn Report>>,
}

impl Results {
    /// Adds the report of the run in `folder`, if there is one. Returns its results.
    pub(super) fn add<M: Measured, T>(
        &mut self,
        folder: &Path,
        results: impl FnOnce(&M::Report) -> T,
    ) -> anyhow::Result<Option<T>> {
        let Some(run) = begun_in(folder) else {
            return Ok(None);
        };
        let report = M::read(&run)?;
        let results = results(&report);
        self.runs.push(Box::new(report));
        Ok(Some(results))
    }

    /// Adds the report of a run like [`Self::add`]. The report is the result.
    pub(super) fn add_whole<M: Measured<Report: Clone>>(
        &mut self,
        folder: &Path,
    ) -> anyhow::Result<Option<Arc<M::Report>>> {
        self.add::<M, _>(folder, |report| Arc::new(report.clone()))
    }
}

pub(crate) struct Steps<'a> {
    pub(crate) steps: Vec<Step<'a>>,
    /// Facts about the method that a reader must know.
    pub(crate) notes: Vec<String>,
}

impl<'a> From<Vec<Step<'a>>> for Steps<'a> {
    fn from(steps: Vec<Step<'a>>) -> Self {
        Self {
            steps,
            notes: Vec::new(),
        }
    }
}

/// The folder of a part that is one run.
pub(super) const RUN: &str = "run";

pub(crate) struct Step<'a> {
    pub(crate) work: Work<'a>,
    /// Decides whether the step is needed, by the results of earlier steps in the part's folder; `None` for always.
    pub(crate) only_if: Option<OnlyIf>,
}

/// A function that returns the reason why a step is needed, in words for the progress, or `None` if it is not needed.
pub(crate) type OnlyIf = fn(&Path, &EvaluationPlan) -> anyhow::Result<Option<&'static str>>;

/// A function that creates a run's folder in another, with the thresholds of the evaluation.
pub(crate) type Create<'a> = dyn Fn(&Path, &Thresholds) -> anyhow::Result<RunFolder> + 'a;

/// The work of a step, whose results are under the part's folder.
pub(crate) enum Work<'a> {
    /// A command of netbench, whose output goes into a file.
    Printed {
        arguments: Vec<String>,
        file: &'static str,
        time: Duration,
    },
    /// A run in a folder.
    Run {
        folder: &'static str,
        /// Predicts the time of the run.
        time: Box<dyn Fn() -> anyhow::Result<Duration> + 'a>,
        /// Creates the run's folder.
        create: Box<Create<'a>>,
        /// The values that a run does not store. Every session supplies them again.
        unstored: Unstored,
    },
}

impl<'a> Step<'a> {
    /// Returns a step that makes a run in a folder, by the plan that the function makes.
    pub(super) fn run<P: Listed>(
        folder: &'static str,
        plan: impl Fn() -> anyhow::Result<Manifest<P>> + 'a,
    ) -> Self {
        let plan = Rc::new(plan);
        let planned = Rc::clone(&plan);
        Self {
            work: Work::Run {
                folder,
                time: Box::new(move || Ok(planned()?.plan.time())),
                create: Box::new(move |parent, thresholds| create(plan()?, parent, thresholds)),
                unstored: Unstored::default(),
            },
            only_if: None,
        }
    }

    /// Gives the run these values in every session.
    pub(super) fn with(mut self, given: Unstored) -> Self {
        if let Work::Run { unstored, .. } = &mut self.work {
            *unstored = given;
        }
        self
    }

    /// Returns the predicted time of the step. A step that may not be needed takes none.
    pub(crate) fn time(&self) -> anyhow::Result<Duration> {
        match &self.work {
            _ if self.only_if.is_some() => Ok(Duration::ZERO),
            Work::Printed { time, .. } => Ok(*time),
            Work::Run { time, .. } => time(),
        }
    }
}

fn create<P: Listed>(
    manifest: Manifest<P>,
    parent: &Path,
    thresholds: &Thresholds,
) -> anyhow::Result<RunFolder> {
    let stored_in = StoredIn {
        out: parent.to_owned(),
        name: None,
        open: false,
    };
    let manifest = Manifest {
        thresholds: thresholds.clone(),
        ..manifest
    };
    let (folder, _) = pipeline::create(manifest, &stored_in, P::KIND.name())?;
    Ok(folder)
}

/// Returns the only run in a folder, if it has begun.
pub(super) fn begun_in(folder: &Path) -> Option<RunFolder> {
    // An unreadable manifest is an error of the part that reads it.
    run_in(folder).filter(|run| run.head().map_or(true, |head| head.has_begun()))
}

/// Returns the only run in a folder, if there is one.
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

/// Reads a file that a step printed, or returns `None` if the step was not reached.
pub(super) fn printed<T: serde::de::DeserializeOwned>(path: &Path) -> anyhow::Result<Option<T>> {
    let Some(bytes) = read_file(path).map_err(wrong)? else {
        return Ok(None);
    };
    let read = serde_json::from_slice(&bytes);
    read.map(Some)
        .with_context(|| format!("{}: not what the part prints", path.display()))
}

/// Returns the options of a command with their default values.
pub(super) fn usual<T: Args>() -> anyhow::Result<T> {
    let command = T::augment_args(Command::new("netbench"));
    Ok(T::from_arg_matches(
        &command.try_get_matches_from(["netbench"])?,
    )?)
}

/// Returns the names of the stacks of an evaluation.
pub(super) fn names(plan: &EvaluationPlan) -> [String; 2] {
    [&plan.from, &plan.to].map(|stack| stack.stack().to_owned())
}

/// Returns the option that names the stacks of an evaluation.
pub(super) fn stacks(plan: &EvaluationPlan) -> StackOptions {
    StackOptions {
        stack: names(plan).into(),
    }
}

/// Returns the options that name the sites of an evaluation.
pub(super) fn sites(plan: &EvaluationPlan) -> (SiteOptions, TargetOptions) {
    let over = SiteOptions {
        sites: plan.sites_file.as_ref().map(PathBuf::from),
        limit: plan.limit,
        live: plan.target == Target::Live,
    };
    let targets = TargetOptions {
        targets: plan.urls.clone(),
        connect_to: plan.connections.connect_to.clone(),
    };
    (over, targets)
}

/// Returns the option that names the trust roots of an evaluation.
pub(super) fn roots(plan: &EvaluationPlan) -> RootsOptions {
    let roots = plan.connections.roots.clone();
    RootsOptions {
        roots: roots.unwrap_or(RootsSource::Mozilla),
    }
}
