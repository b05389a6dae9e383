//! Run folders as a run leaves them, and as kills and accidents do.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::{collections::BTreeMap, fs, path::Path};

use netbench_model::{
    ClientSettings, Condition, Environment, LinkKind, LinkRecord, Manifest, Origin, Outcome,
    PlanRecord, Profile, Role, RootsRecord, RootsSource, Sample, StackName, Target,
};
use netbench_store::{RunFolder, StoreError};
use proptest::prelude::*;

fn manifest() -> Manifest {
    Manifest {
        schema: netbench_model::SCHEMA_VERSION,
        netbench: "0.1.0".to_owned(),
        name: "a-run".to_owned(),
        started: "2026-01-02T03:04:05Z".to_owned(),
        finished: None,
        plan: PlanRecord {
            seed: 1,
            stacks: vec![StackName::new("a"), StackName::new("b")],
            conditions: vec![Condition::Clean],
            rounds: 1,
            jobs: 1,
            target: Target::Lab,
            sites_file: "sites.txt".to_owned(),
            sites_sha256: String::new(),
            sites: Vec::new(),
            client: ClientSettings {
                profile: Profile::Default,
                versions: vec![],
                suites: vec![],
                groups: vec![],
                signatures: vec![],
                alpn: vec![],
            },
            roots: RootsRecord {
                source: RootsSource::Mozilla,
                count: 1,
                sha256: String::new(),
            },
            timeout_ms: 1,
        },
        workers: Vec::new(),
        link: LinkRecord {
            kind: LinkKind::None,
            why: String::new(),
            checks: Vec::new(),
            lateness_ns: BTreeMap::new(),
            packets: BTreeMap::new(),
            losses_sha256: None,
            settings: BTreeMap::new(),
        },
        environment: Environment::default(),
        sessions: Vec::new(),
        warnings: Vec::new(),
        origin: Origin::default(),
    }
}

fn sample(trial: u64, stack: &str, role: Role) -> Sample {
    Sample {
        schema: netbench_model::SCHEMA_VERSION,
        session: 0,
        trial,
        site: "one.example".to_owned(),
        stack: StackName::new(stack),
        condition: Condition::Clean,
        round: 0,
        block: 0,
        role,
        started_unix_ms: 1,
        outcome: Outcome::Unsupported {
            reason: format!("trial {trial} \u{1b} ü"),
        },
    }
}

fn folder(path: &Path, samples: u64) -> RunFolder {
    let folder = RunFolder::create(path, &manifest()).unwrap();
    let mut appender = folder.appender().unwrap();
    for trial in 0..samples {
        appender
            .append(&sample(trial, "a", Role::Measured))
            .unwrap();
    }
    folder
}

#[test]
fn what_is_written_is_read() {
    let temp = tempfile::tempdir().unwrap();
    let path = temp.path().join("deep/run");
    let made = folder(&path, 3);
    let opened = RunFolder::open(&path).unwrap();
    assert_eq!(opened.manifest::<Manifest>().unwrap(), manifest());
    assert_eq!(opened.samples::<Sample>().unwrap().len(), 3);
    assert_eq!(
        opened.samples::<Sample>().unwrap()[1],
        sample(1, "a", Role::Measured)
    );
    let file = made.write_file("summary.md", b"text").unwrap();
    assert_eq!(fs::read(file).unwrap(), b"text");
    let names: Vec<_> = fs::read_dir(&path)
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect();
    assert!(
        !names.iter().any(|name| name.ends_with(".part")),
        "{names:?}"
    );
}

#[test]
fn every_wrong_folder_is_named() {
    let temp = tempfile::tempdir().unwrap();
    let at = |name: &str| temp.path().join(name);
    let error = |result: Result<RunFolder, StoreError>| result.unwrap_err();

    assert!(matches!(
        error(RunFolder::open(&at("none"))),
        StoreError::Missing(_)
    ));
    fs::create_dir(at("empty")).unwrap();
    assert!(matches!(
        error(RunFolder::open(&at("empty"))),
        StoreError::NotARun(_)
    ));
    fs::create_dir(at("used")).unwrap();
    fs::write(at("used/file"), "").unwrap();
    assert!(matches!(
        error(RunFolder::create(&at("used"), &manifest())),
        StoreError::InUse(_)
    ));
    fs::write(at("file"), "").unwrap();
    assert!(matches!(
        error(RunFolder::create(&at("file/run"), &manifest())),
        StoreError::Io { .. }
    ));

    let run = folder(&at("run"), 2);
    let whole = fs::read_to_string(at("run/run.json")).unwrap();
    fs::write(at("run/run.json"), &whole[..whole.len() / 2]).unwrap();
    assert!(matches!(
        run.manifest::<Manifest>().unwrap_err(),
        StoreError::Manifest { .. }
    ));
    fs::write(at("run/run.json"), r#"{"schema": 2000, "all": "new"}"#).unwrap();
    assert!(matches!(
        run.manifest::<Manifest>().unwrap_err(),
        StoreError::Newer { found: 2000, .. }
    ));

    let lines = fs::read_to_string(at("run/samples.jsonl")).unwrap();
    fs::write(at("run/samples.jsonl"), format!("{lines}garbage\n")).unwrap();
    match run.samples::<Sample>().unwrap_err() {
        StoreError::Sample { line, path, .. } => {
            assert_eq!(line, 3);
            assert!(path.ends_with("samples.jsonl"));
        }
        other => panic!("{other}"),
    }
    fs::write(at("run/samples.jsonl"), "{\"schema\": 2000}\n").unwrap();
    assert!(matches!(
        run.samples::<Sample>().unwrap_err(),
        StoreError::Newer { found: 2000, .. }
    ));
}

#[test]
fn only_one_process_appends() {
    let temp = tempfile::tempdir().unwrap();
    let run = folder(&temp.path().join("run"), 0);
    let first = run.appender().unwrap();
    assert!(matches!(run.appender().unwrap_err(), StoreError::Locked(_)));
    drop(first);
    run.appender().unwrap();
}

#[test]
fn a_full_disk_is_said_and_spares_what_was_written() {
    // A device that is always full stands in for the file.
    let temp = tempfile::tempdir().unwrap();
    let run = folder(&temp.path().join("run"), 2);
    let samples = temp.path().join("run/samples.jsonl");
    let kept = fs::read(&samples).unwrap();
    fs::rename(&samples, temp.path().join("kept")).unwrap();
    std::os::unix::fs::symlink("/dev/full", &samples).unwrap();
    let error = match run.appender() {
        Ok(mut appender) => appender
            .append(&sample(9, "a", Role::Measured))
            .unwrap_err(),
        // A device cannot be cut to a length.
        Err(error) => error,
    };
    assert!(
        matches!(error, StoreError::Full(_) | StoreError::Io { .. }),
        "{error}"
    );
    assert!(error.to_string().contains("samples.jsonl"), "{error}");
    assert_eq!(fs::read(temp.path().join("kept")).unwrap(), kept);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_kill_at_any_byte_loses_at_most_the_sample_in_flight(share in 0.0..1.0f64) {
        let temp = tempfile::tempdir().unwrap();
        let run = folder(&temp.path().join("run"), 4);
        let path = temp.path().join("run/samples.jsonl");
        let whole = fs::read(&path).unwrap();
        let cut = (share * whole.len() as f64) as usize;
        fs::write(&path, &whole[..cut]).unwrap();
        let lines = whole[..cut].iter().filter(|byte| **byte == b'\n').count();
        prop_assert_eq!(run.samples::<Sample>().unwrap().len(), lines);
        run.appender().unwrap().append(&sample(99, "b", Role::Measured)).unwrap();
        let samples = run.samples::<Sample>().unwrap();
        prop_assert_eq!(samples.len(), lines + 1);
        prop_assert_eq!(samples.last().unwrap().trial, 99);
    }
}

#[test]
fn a_run_is_in_use_while_anything_is_appended() {
    let dir = tempfile::tempdir().unwrap();
    let folder = RunFolder::create(&dir.path().join("run"), &manifest()).unwrap();
    assert!(!folder.is_in_use().unwrap());
    let samples = folder.appender().unwrap();
    assert!(folder.is_in_use().unwrap());
    drop(samples);
    assert!(!folder.is_in_use().unwrap());
    let scans = folder.scan_appender().unwrap();
    assert!(folder.is_in_use().unwrap());
    drop(scans);
    assert!(!folder.is_in_use().unwrap());
}
