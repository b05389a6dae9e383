//! Stored runs in `results/`, as reports.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use netbench_model::{EvaluationManifest, Losses, LostSite, SuiteManifest, SuiteSample};
use netbench_report::{
    ConnectReport, EvaluationReport, Found, Report, ScanSummary, SuiteReport, evaluation,
};
use netbench_store::RunFolder;

/// Opens the run whose name has this end.
pub fn run(end: &str) -> RunFolder {
    let results = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../results");
    RunFolder::open(&only(&results, end)).unwrap()
}

/// Opens an evaluation without compatibility, which an earlier version made; its stored figures are those of that version.
pub fn earlier_evaluation() -> RunFolder {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/earlier-evaluation");
    RunFolder::open(&folder).unwrap()
}

/// Returns the report of the published run of `connect` whose folder has this ending.
pub fn connect(end: &str) -> ConnectReport {
    report_of(&run(end))
}

fn report_of(run: &RunFolder) -> ConnectReport {
    ConnectReport::new(run.manifest().unwrap(), run.records().unwrap())
}

/// Returns the report of the earlier evaluation, with these lost sites added.
pub fn evaluation_of(lost: Vec<LostSite>) -> EvaluationReport {
    let folder = earlier_evaluation();
    let manifest: EvaluationManifest = folder.manifest().unwrap();
    let [coverage, difference] = ["features/coverage.json", "features/difference.json"]
        .map(|path| fs::read_to_string(folder.path().join(path)).unwrap());
    let [connect, speed, costs] = ["connections/run", "suite/speed", "suite/costs"]
        .map(|path| RunFolder::open(&only(&folder.path().join(path), "")).unwrap());
    let connect = report_of(&connect);
    let scan = only(&folder.path().join("sites/run"), "").join("summary.json");
    let scan: ScanSummary = serde_json::from_str(&fs::read_to_string(scan).unwrap()).unwrap();
    let suites = [speed, costs].map(|run| {
        let manifest: SuiteManifest = run.manifest().unwrap();
        let samples: Vec<SuiteSample> = run.records().unwrap();
        SuiteReport::new(manifest, &samples)
    });
    let found = Found {
        coverage: serde_json::from_str(&coverage).unwrap(),
        difference: serde_json::from_str(&difference).unwrap(),
        losses: Some(Losses {
            scanned: 101 + lost.len() as u64,
            both: 101,
            confirmed: 10,
            lost,
            ..Losses::default()
        }),
        connections: Some(Arc::clone(&connect.summary)),
        suites: suites.iter().map(|s| Arc::clone(&s.summary)).collect(),
        ..Found::default()
    };
    let mut parts: Vec<Box<dyn Report>> = vec![Box::new(scan), Box::new(connect)];
    for suite in suites {
        parts.push(Box::new(suite));
    }
    EvaluationReport {
        evaluation: evaluation(manifest, found),
        parts,
    }
}

/// Returns the only folder here whose name has this end.
fn only(place: &Path, end: &str) -> PathBuf {
    let entries = fs::read_dir(place).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let mut paths = paths.filter(|path| path.is_dir() && path.to_string_lossy().ends_with(end));
    paths.next().unwrap()
}
