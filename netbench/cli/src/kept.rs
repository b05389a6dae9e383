//! Runs that are kept, opened for reading: what is wrong with a folder is the user's to mend, and exits
//! with 2.

use std::{path::Path, sync::Arc};

use netbench_model::{Manifest, Sample, SuiteManifest};
use netbench_report::{
    ConnectSummary, Evaluation, ScanSummary, SuiteSummary,
    page::{KeptRun, Page, page_of_evaluation, page_of_runs},
    summarize, summarize_suite,
};
use netbench_store::{RunFolder, RunKind, StoreError};
use serde::de::DeserializeOwned;

use crate::{
    commands::{evaluate, scan},
    exit::WrongInput,
};

/// A run that was read, with what it says. An evaluation and the runs of its parts share their summaries.
pub(crate) enum Kept {
    Connect {
        folder: RunFolder,
        manifest: Box<Manifest>,
        samples: Vec<Sample>,
        summary: Arc<ConnectSummary>,
    },
    Suite {
        folder: RunFolder,
        manifest: Box<SuiteManifest>,
        summary: Arc<SuiteSummary>,
    },
    Scan {
        folder: RunFolder,
        summary: Box<ScanSummary>,
    },
    Evaluate {
        folder: RunFolder,
        evaluation: Box<Evaluation>,
        /// The runs of its parts.
        runs: Vec<Kept>,
    },
}

impl Kept {
    pub(crate) fn read(path: &Path) -> anyhow::Result<Self> {
        let folder = RunFolder::open(path).map_err(wrong)?;
        Ok(match folder.kind().map_err(wrong)? {
            RunKind::Connect => {
                let manifest: Manifest = folder.manifest().map_err(wrong)?;
                let samples: Vec<Sample> = folder.samples().map_err(wrong)?;
                Self::Connect {
                    summary: Arc::new(summarize(&manifest, &samples)),
                    manifest: Box::new(manifest),
                    samples,
                    folder,
                }
            }
            RunKind::Suite => {
                let manifest: SuiteManifest = folder.manifest().map_err(wrong)?;
                Self::Suite {
                    summary: Arc::new(summarize_suite(
                        &manifest,
                        &folder.samples().map_err(wrong)?,
                    )),
                    manifest: Box::new(manifest),
                    folder,
                }
            }
            RunKind::Scan => {
                let manifest = folder.manifest().map_err(wrong)?;
                Self::Scan {
                    summary: Box::new(scan::summary(&folder, &manifest)?),
                    folder,
                }
            }
            RunKind::Evaluate => {
                let manifest = folder.manifest().map_err(wrong)?;
                let (evaluation, runs) = evaluate::read(&folder, manifest);
                Self::Evaluate {
                    folder,
                    evaluation: Box::new(evaluation),
                    runs,
                }
            }
        })
    }

    pub(crate) fn folder(&self) -> &RunFolder {
        match self {
            Self::Connect { folder, .. }
            | Self::Suite { folder, .. }
            | Self::Scan { folder, .. }
            | Self::Evaluate { folder, .. } => folder,
        }
    }

    /// Its page.
    pub(crate) fn page(&self) -> Page {
        match self {
            Self::Evaluate {
                evaluation, runs, ..
            } => {
                let runs: Vec<_> = runs.iter().flat_map(Self::of_page).collect();
                page_of_evaluation(evaluation, &runs)
            }
            Self::Connect { .. } | Self::Suite { .. } | Self::Scan { .. } => {
                page_of_runs(&self.of_page())
            }
        }
    }

    /// As pages take it: an evaluation is the runs of its parts.
    pub(crate) fn of_page(&self) -> Vec<KeptRun<'_>> {
        match self {
            Self::Connect {
                manifest,
                samples,
                summary,
                ..
            } => vec![KeptRun::Connect {
                summary,
                manifest,
                samples,
            }],
            Self::Suite {
                manifest, summary, ..
            } => vec![KeptRun::Suite { summary, manifest }],
            Self::Scan { summary, .. } => vec![KeptRun::Scan { summary }],
            Self::Evaluate { runs, .. } => runs.iter().flat_map(Self::of_page).collect(),
        }
    }

    /// Whether there is a figure to read, as `connect` and `suite` end with it.
    pub(crate) fn compares(&self) -> bool {
        match self {
            Self::Connect { summary, .. } => summary.compares(),
            Self::Suite { summary, .. } => summary.tells(),
            Self::Scan { .. } => true,
            Self::Evaluate { evaluation, .. } => evaluate::answered(evaluation),
        }
    }
}

/// What the run in a folder is of.
pub(crate) fn kind(path: &Path) -> anyhow::Result<RunKind> {
    let folder = RunFolder::open(path).map_err(wrong)?;
    folder.kind().map_err(wrong)
}

/// Opens a run of one kind, with its manifest. `otherwise` says what is wrong with one of another kind.
pub(crate) fn open_as<M: DeserializeOwned>(
    path: &Path,
    kind: RunKind,
    otherwise: &str,
) -> anyhow::Result<(RunFolder, M)> {
    let folder = RunFolder::open(path).map_err(wrong)?;
    if folder.kind().map_err(wrong)? != kind {
        return Err(WrongInput(format!("{}: {otherwise}", path.display())).into());
    }
    let manifest = folder.manifest().map_err(wrong)?;
    Ok((folder, manifest))
}

/// Opens a run of `connect`, for the command `who`.
pub(crate) fn connect_run(
    path: &Path,
    who: &str,
) -> anyhow::Result<(RunFolder, Manifest, Vec<Sample>)> {
    let otherwise = format!("not a run of connect, which {who} is for");
    let (folder, manifest) = open_as(path, RunKind::Connect, &otherwise)?;
    let samples = folder.samples().map_err(wrong)?;
    Ok((folder, manifest, samples))
}

/// An error in a run's folder, unless it is the machine's.
pub(crate) fn wrong(error: StoreError) -> anyhow::Error {
    match error {
        StoreError::Io { .. } | StoreError::Full(_) => anyhow::Error::new(error),
        error => WrongInput(error.to_string()).into(),
    }
}
