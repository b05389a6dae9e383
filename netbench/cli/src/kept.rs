//! Runs that are kept, opened for reading: what is wrong with a folder is the user's to mend, and exits
//! with 2.

use std::path::Path;

use netbench_model::{Manifest, Sample};
use netbench_report::{ConnectReport, EvaluationReport, Report, ScanSummary, SuiteReport};
use netbench_store::{RunFolder, RunKind, StoreError};
use serde::de::DeserializeOwned;

use crate::{
    commands::{evaluate, scan},
    exit::WrongInput,
};

/// A run that was read, with its report.
pub(crate) enum Kept {
    Connect {
        folder: RunFolder,
        report: Box<ConnectReport>,
    },
    Suite {
        folder: RunFolder,
        report: Box<SuiteReport>,
    },
    Scan {
        folder: RunFolder,
        report: Box<ScanSummary>,
    },
    Evaluate {
        folder: RunFolder,
        report: Box<EvaluationReport>,
    },
}

impl Kept {
    pub(crate) fn read(path: &Path) -> anyhow::Result<Self> {
        let folder = RunFolder::open(path).map_err(wrong)?;
        Ok(match folder.kind().map_err(wrong)? {
            RunKind::Connect => {
                let manifest = folder.manifest().map_err(wrong)?;
                let samples = folder.samples().map_err(wrong)?;
                Self::Connect {
                    report: Box::new(ConnectReport::new(manifest, samples)),
                    folder,
                }
            }
            RunKind::Suite => {
                let manifest = folder.manifest().map_err(wrong)?;
                let samples: Vec<_> = folder.samples().map_err(wrong)?;
                Self::Suite {
                    report: Box::new(SuiteReport::new(manifest, &samples)),
                    folder,
                }
            }
            RunKind::Scan => {
                let manifest = folder.manifest().map_err(wrong)?;
                Self::Scan {
                    report: Box::new(scan::summary(&folder, &manifest)?),
                    folder,
                }
            }
            RunKind::Evaluate => {
                let manifest = folder.manifest().map_err(wrong)?;
                Self::Evaluate {
                    report: Box::new(evaluate::read(&folder, manifest)),
                    folder,
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

    pub(crate) fn report(&self) -> &dyn Report {
        match self {
            Self::Connect { report, .. } => &**report,
            Self::Suite { report, .. } => &**report,
            Self::Scan { report, .. } => &**report,
            Self::Evaluate { report, .. } => &**report,
        }
    }

    pub(crate) fn into_report(self) -> Box<dyn Report> {
        match self {
            Self::Connect { report, .. } => report,
            Self::Suite { report, .. } => report,
            Self::Scan { report, .. } => report,
            Self::Evaluate { report, .. } => report,
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
