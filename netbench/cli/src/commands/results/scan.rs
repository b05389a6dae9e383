use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::Context;
use netbench_model::{
    EvaluationManifest, Manifest, Origin, Sample, ScanManifest, StackName, SuiteManifest,
    SuiteSample, scan::SiteScan,
};
use netbench_report::RunRow;
use netbench_store::{RunFolder, RunKind, StoreError};

use crate::exit::WrongInput;

/// Something in a folder of runs.
pub(super) struct Entry {
    pub(super) path: PathBuf,
    pub(super) row: RunRow,
}

/// Every folder in a folder of runs, whether it is a run or not; not what links lead to.
pub(super) fn entries(folder: &Path) -> anyhow::Result<Vec<Entry>> {
    if !folder.is_dir() {
        let why = format!("{}: no such folder of runs", folder.display());
        return Err(WrongInput(why).into());
    }
    if folder.join("run.json").is_file() {
        let why = format!(
            "{}: a run, not a folder of runs; `netbench results show` shows it",
            folder.display()
        );
        return Err(WrongInput(why).into());
    }
    let cannot = || format!("cannot read {}", folder.display());
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).with_context(cannot)? {
        let entry = entry.with_context(cannot)?;
        if entry.file_type().with_context(cannot)?.is_dir() {
            found.push(read(entry.path()));
        }
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(found)
}

fn read(path: PathBuf) -> Entry {
    let mut row = RunRow {
        path: path.display().to_string(),
        bytes: bytes(&path),
        ..RunRow::default()
    };
    if let Err(error) = fill(&mut row, &path) {
        row.problem = Some(error.to_string());
    }
    Entry { path, row }
}

fn fill(row: &mut RunRow, path: &Path) -> Result<(), StoreError> {
    let folder = RunFolder::open(path)?;
    match folder.kind()? {
        RunKind::Connect => {
            let manifest: Manifest = folder.manifest()?;
            let plan = manifest.plan;
            about(row, "connect", manifest.started, manifest.finished);
            which(row, &plan.stacks, plan.sites.len() as u64);
            row.part = part(&manifest.origin);
            row.samples = folder.samples::<Sample>()?.len() as u64;
        }
        RunKind::Suite => {
            let manifest: SuiteManifest = folder.manifest()?;
            let plan = manifest.suite;
            about(row, "suite", manifest.started, manifest.finished);
            which(row, &plan.stacks, plan.scenarios.len() as u64);
            row.samples = folder.samples::<SuiteSample>()?.len() as u64;
        }
        RunKind::Scan => {
            let manifest: ScanManifest = folder.manifest()?;
            let plan = manifest.scan;
            about(row, "scan", manifest.started, manifest.finished);
            which(row, &plan.against, plan.sites.len() as u64);
            row.part = part(&manifest.origin);
            row.samples = folder.scans::<SiteScan>()?.len() as u64;
        }
        RunKind::Evaluate => {
            let manifest: EvaluationManifest = folder.manifest()?;
            let plan = manifest.plan;
            about(row, "evaluate", manifest.started, manifest.finished);
            which(row, &[plan.from, plan.to], plan.sites.into());
        }
    }
    Ok(())
}

fn about(row: &mut RunRow, kind: &str, started: String, finished: Option<String>) {
    row.kind = kind.to_owned();
    row.started = started;
    row.finished = finished;
}

fn which(row: &mut RunRow, stacks: &[StackName], sites: u64) {
    row.stacks = stacks.iter().map(ToString::to_string).collect();
    row.sites = sites;
}

/// Which part of the sites it has, or of how many runs it was joined.
fn part(origin: &Origin) -> Option<String> {
    match (origin.shard, origin.merged.len()) {
        (Some(part), _) => Some(format!("shard {}", part.shard)),
        (None, 0) => None,
        (None, runs) => Some(format!("joined of {runs}")),
    }
}

/// Of all files in it; what cannot be read counts nothing.
fn bytes(path: &Path) -> u64 {
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    let sizes = entries.map(|entry| match entry.metadata() {
        Ok(data) if data.is_dir() => bytes(&entry.path()),
        Ok(data) => data.len(),
        Err(_) => 0,
    });
    sizes.sum()
}
