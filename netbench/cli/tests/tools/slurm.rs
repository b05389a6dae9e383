//! The documented array script on a real Slurm that consists of this machine.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use crate::support::{Done, Place, finish, manifest, samples};
use netbench_model::Role;

netbench_testing::module_tests! {
    a_slurm_array_takes_all_sites_and_merges: Slurm;
}

fn a_slurm_array_takes_all_sites_and_merges() {
    let place = Place::new();
    let sites: String = (1..=5)
        .map(|n| format!("site{n}.example rtt=1ms\n"))
        .collect();
    place.write("sites.txt", &sites);
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/support/slurm-run");
    let mut command = Command::new(script);
    let folder = place.path().to_str().unwrap();
    command
        .args([folder, env!("CARGO_BIN_EXE_netbench"), "11", "1-5:2"])
        .args(["--sites", "sites.txt", "--rounds", "2", "--link", "none"]);
    let done = finish(&mut command);
    let files = fs::read_dir(place.path()).unwrap().flatten();
    let logs = files.filter(|entry| entry.path().extension().is_some_and(|e| e == "log"));
    let logs: String = logs
        .map(|entry| fs::read_to_string(entry.path()).unwrap())
        .collect();
    let Done { stdout, stderr, .. } = &done;
    assert_eq!(done.code, Some(0), "{stdout}\n{stderr}\n{logs}");

    let mut runs: Vec<_> = fs::read_dir(place.path().join("runs"))
        .unwrap_or_else(|_| panic!("no runs: {logs}"))
        .map(|entry| entry.unwrap().path())
        .collect();
    runs.sort();
    let shards: Vec<String> = runs
        .iter()
        .map(|run| manifest(run).origin.shard.unwrap().shard.to_string())
        .collect();
    assert_eq!(runs.len(), 3, "{shards:?} {logs}");
    let given: Vec<&Path> = runs.iter().map(PathBuf::as_path).collect();
    place.merge(&given, "--out all").expect(0);
    let all = place.path().join("all");
    let names: Vec<String> = manifest(&all).plan.sites.iter().map(|s| s.name()).collect();
    let expected: Vec<String> = (1..=5).map(|n| format!("site{n}.example")).collect();
    assert_eq!(names, expected);
    let measured = samples(&all);
    let measured = measured.iter().filter(|s| s.role == Role::Measured).count();
    assert_eq!(measured, 5 * 2 * 2);
}
