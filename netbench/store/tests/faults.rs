//! Figures that no measurement can produce, in the published runs of this repository.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::{fs, fs::File, path::Path};

use netbench_model::{
    Record, Sample, SuiteSample, browser::VisitSample, roots::RootsSample, ship::ShipSample,
};

/// Returns the lines of the raw data of the published run whose name ends in `end`.
fn published(end: &str) -> Vec<String> {
    let results = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../results");
    let mut folders = fs::read_dir(results)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let folder = folders
        .find(|path| path.to_string_lossy().ends_with(end))
        .unwrap();
    let packed = File::open(folder.join("samples.jsonl.zst")).unwrap();
    let plain = String::from_utf8(zstd::decode_all(packed).unwrap()).unwrap();
    plain.lines().map(str::to_owned).collect()
}

/// Returns the line with 0 for each number after `key`.
fn zeroed(line: &str, key: &str) -> String {
    let mut parts = line.split(key);
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |before, after| {
        let rest = after.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
        format!("{before}{key}0{rest}")
    })
}

fn fault<T: Record>(line: &str) -> Option<&'static str> {
    serde_json::from_str::<T>(line).unwrap().fault()
}

/// Checks that no line of a run has a fault, and that lines have one with 0 for the numbers after `key`.
fn check<T: Record>(run: &str, key: &str, says: &str) {
    let lines = published(run);
    for line in &lines {
        assert_eq!(fault::<T>(line), None, "{run}: {line}");
    }
    let zeroed = lines
        .iter()
        .map(|line| zeroed(line, &format!("\"{key}\":")));
    let faults: Vec<&str> = zeroed.filter_map(|line| fault::<T>(&line)).collect();
    assert!(!faults.is_empty(), "{run}: {key}");
    assert!(
        faults.iter().all(|fault| fault.starts_with(says)),
        "{faults:?}"
    );
}

#[test]
fn figures_of_zero_are_faults_in_every_kind_of_run() {
    check::<Sample>("connect-101-sites", "total_ns", "total_ns is 0");
    check::<SuiteSample>("memory-table", "peak_bytes", "peak_bytes is 0");
    check::<SuiteSample>("bertie", "sum_ns", "sum_ns is 0");
    check::<SuiteSample>("bertie", r#"low_ns":{"client"#, "a turn has a time");
    check::<ShipSample>("ship", "program_bytes", "program_bytes is 0");
    check::<RootsSample>("compat-roots", "connector_ns", "connector_ns is 0");
    check::<VisitSample>("browser", "total_ns", "total_ns is 0");
}
