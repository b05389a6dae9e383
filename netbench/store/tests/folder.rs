//! Run folders after runs, kills and accidents.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::{collections::BTreeMap, fs, path::Path};

use netbench_model::{
    ClientSettings, Condition, ConnectManifest, ConnectPlan, Environment, EvaluationPlan, LinkKind,
    LinkRecord, Origin, Outcome, Plan, Profile, Record, Role, RootsRecord, RootsSource, Sample,
    ScanPlan, StackName, SuitePlan, SuiteSample, Target, Thresholds,
    browser::{BrowserPlan, VisitSample},
    chains::{ChainSample, ChainsPlan},
    compat::{CompatPlan, CompatSample},
    features::{FeatureSample, FeaturesPlan},
    roots::{RootsPlan, RootsSample},
    ship::{ShipPlan, ShipSample},
};
use netbench_store::{RunFolder, StoreError};
use proptest::prelude::*;

fn manifest() -> ConnectManifest {
    ConnectManifest {
        schema: netbench_model::SCHEMA_VERSION,
        kind: ConnectPlan::KIND,
        netbench: "0.1.0".to_owned(),
        name: "a-run".to_owned(),
        started: "2026-01-02T03:04:05Z".to_owned(),
        finished: None,
        plan: ConnectPlan {
            seed: 1,
            stacks: vec![StackName::new("a"), StackName::new("b")],
            conditions: vec![Condition::Clean],
            rounds: 1,
            jobs: 1,
            cpu_percent: None,
            target: Target::Lab,
            sites_file: "sites.txt".to_owned(),
            sites_sha256: String::new(),
            sites: Vec::new(),
            sweep: None,
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
            pause_ms: None,
            connect_to: Vec::new(),
            request: netbench_model::RequestRecord::default(),
            client_certificate: None,
            compression: None,
            link: None,
        },
        workers: Vec::new(),
        link: Some(LinkRecord {
            kind: LinkKind::None,
            why: String::new(),
            checks: Vec::new(),
            lateness_ns: BTreeMap::new(),
            packets: BTreeMap::new(),
            losses_sha256: None,
            settings: BTreeMap::new(),
        }),
        environment: Environment::default(),
        sessions: Vec::new(),
        warnings: Vec::new(),
        origin: Origin::default(),
        thresholds: Thresholds::default(),
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
        losses: Vec::new(),
        packets: None,
        replay: None,
    }
}

fn folder(path: &Path, samples: u64) -> RunFolder {
    let folder = RunFolder::create(path, &manifest()).unwrap();
    let mut appender = folder.appender::<Sample>().unwrap();
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
    assert_eq!(opened.manifest::<ConnectPlan>().unwrap(), manifest());
    assert_eq!(opened.records::<Sample>().unwrap().len(), 3);
    assert_eq!(
        opened.records::<Sample>().unwrap()[1],
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
    let place = temp.path();

    assert!(matches!(
        RunFolder::open(&place.join("none")).unwrap_err(),
        StoreError::Missing(_)
    ));
    fs::create_dir(place.join("empty")).unwrap();
    assert!(matches!(
        RunFolder::open(&place.join("empty")).unwrap_err(),
        StoreError::NotARun(_)
    ));
    fs::create_dir(place.join("used")).unwrap();
    fs::write(place.join("used/file"), "").unwrap();
    assert!(matches!(
        RunFolder::create(&place.join("used"), &manifest()).unwrap_err(),
        StoreError::InUse(_)
    ));
    fs::write(place.join("file"), "").unwrap();
    assert!(matches!(
        RunFolder::create(&place.join("file/run"), &manifest()).unwrap_err(),
        StoreError::Io { .. }
    ));

    let run = folder(&place.join("run"), 2);
    let whole = fs::read_to_string(place.join("run/run.json")).unwrap();
    fs::write(place.join("run/run.json"), &whole[..whole.len() / 2]).unwrap();
    assert!(matches!(
        run.manifest::<ConnectPlan>().unwrap_err(),
        StoreError::Manifest { .. }
    ));
    fs::write(
        place.join("run/run.json"),
        r#"{"schema": 2000, "all": "new"}"#,
    )
    .unwrap();
    assert!(matches!(
        run.manifest::<ConnectPlan>().unwrap_err(),
        StoreError::Newer { found: 2000, .. }
    ));

    let lines = fs::read_to_string(place.join("run/samples.jsonl")).unwrap();
    fs::write(place.join("run/samples.jsonl"), format!("{lines}garbage\n")).unwrap();
    match run.records::<Sample>().unwrap_err() {
        StoreError::Sample { line, path, .. } => {
            assert_eq!(line, 3);
            assert!(path.ends_with("samples.jsonl"));
        }
        other => panic!("{other}"),
    }
    fs::write(place.join("run/samples.jsonl"), "{\"schema\": 2000}\n").unwrap();
    assert!(matches!(
        run.records::<Sample>().unwrap_err(),
        StoreError::Newer { found: 2000, .. }
    ));
}

#[test]
fn only_one_process_appends() {
    let temp = tempfile::tempdir().unwrap();
    let run = folder(&temp.path().join("run"), 0);
    let first = run.appender::<Sample>().unwrap();
    assert!(matches!(
        run.appender::<Sample>().unwrap_err(),
        StoreError::Locked(_)
    ));
    drop(first);
    run.appender::<Sample>().unwrap();
}

#[test]
fn a_full_disk_is_said_and_spares_what_was_written() {
    // A device that is always full replaces the file.
    let temp = tempfile::tempdir().unwrap();
    let run = folder(&temp.path().join("run"), 2);
    let samples = temp.path().join("run/samples.jsonl");
    let kept = fs::read(&samples).unwrap();
    fs::rename(&samples, temp.path().join("kept")).unwrap();
    std::os::unix::fs::symlink("/dev/full", &samples).unwrap();
    let error = match run.appender::<Sample>() {
        Ok(mut appender) => appender
            .append(&sample(9, "a", Role::Measured))
            .unwrap_err(),
        // A device cannot be truncated.
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
        prop_assert_eq!(run.records::<Sample>().unwrap().len(), lines);
        run.appender::<Sample>().unwrap().append(&sample(99, "b", Role::Measured)).unwrap();
        let samples = run.records::<Sample>().unwrap();
        prop_assert_eq!(samples.len(), lines + 1);
        prop_assert_eq!(samples.last().unwrap().trial, 99);
    }
}

#[test]
fn a_run_is_in_use_while_anything_is_appended() {
    let dir = tempfile::tempdir().unwrap();
    let folder = RunFolder::create(&dir.path().join("run"), &manifest()).unwrap();
    assert!(!folder.is_in_use().unwrap());
    let samples = folder.appender::<Sample>().unwrap();
    assert!(folder.is_in_use().unwrap());
    drop(samples);
    assert!(!folder.is_in_use().unwrap());
}

#[test]
fn a_packed_run_is_read_as_it_was() {
    let temp = tempfile::tempdir().unwrap();
    let run = folder(&temp.path().join("run"), 50);
    let plain = run.path().join("samples.jsonl");
    let packed = run.path().join("samples.jsonl.zst");
    let before = run.records::<Sample>().unwrap();
    let bytes = fs::read(&plain).unwrap();

    let busy = run.appender::<Sample>().unwrap();
    assert!(matches!(run.pack().unwrap_err(), StoreError::Locked(_)));
    assert!(plain.exists() && !packed.exists());
    drop(busy);
    let sizes = run.pack().unwrap();
    assert_eq!(sizes.plain_bytes, bytes.len() as u64);
    assert_eq!(sizes.packed_bytes, fs::metadata(&packed).unwrap().len());
    assert!(sizes.packed_bytes * 4 < sizes.plain_bytes, "{sizes:?}");
    assert!(!plain.exists());
    assert_eq!(run.records::<Sample>().unwrap(), before);
    assert_eq!(run.pack().unwrap(), netbench_store::Packed::default());

    // Appending fails, without an empty file that would hide the packed one.
    let error = run.appender::<Sample>().unwrap_err();
    assert!(matches!(error, StoreError::Packed(_)), "{error}");
    assert!(error.to_string().contains("zstd -d"), "{error}");
    assert!(!plain.exists());

    // A kill between the last two steps leaves both files.
    fs::write(&plain, &bytes).unwrap();
    assert_eq!(run.records::<Sample>().unwrap(), before);
    run.pack().unwrap();
    assert!(!plain.exists());
    // A kill just after the plain file was created again leaves it empty.
    fs::write(&plain, b"").unwrap();
    assert_eq!(run.records::<Sample>().unwrap(), before);
}

#[test]
fn a_damaged_packed_file_is_said_and_named() {
    let temp = tempfile::tempdir().unwrap();
    let run = folder(&temp.path().join("run"), 50);
    run.pack().unwrap();
    let packed = run.path().join("samples.jsonl.zst");
    let whole = fs::read(&packed).unwrap();
    let mut flipped = whole.clone();
    let middle = flipped.len() / 2;
    flipped[middle] ^= 0xff;
    for bytes in [
        b"garbage".to_vec(),
        whole[..whole.len() - 9].to_vec(),
        flipped,
    ] {
        fs::write(&packed, &bytes).unwrap();
        let error = run.records::<Sample>().unwrap_err();
        assert!(matches!(error, StoreError::Damaged { .. }), "{error}");
        assert!(error.to_string().contains("samples.jsonl.zst"), "{error}");
    }
}

#[test]
fn a_run_of_another_kind_is_refused_by_name() {
    let temp = tempfile::tempdir().unwrap();
    let run = folder(&temp.path().join("run"), 0);
    let error = run.manifest::<SuitePlan>().unwrap_err();
    let text = error.to_string();
    assert!(
        text.contains("a run of kind connect, where one of suite"),
        "{text}"
    );
}

/// Tests that published runs of every kind and schema are readable.
#[test]
fn published_runs_are_read() {
    fn has_records<R: Record>(run: &RunFolder) {
        assert!(!run.records::<R>().unwrap().is_empty(), "{:?}", run.path());
    }
    fn find(folder: &Path, runs: &mut Vec<RunFolder>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                runs.extend(RunFolder::open(&path).ok());
                find(&path, runs);
            }
        }
    }
    let results = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../results");
    let mut runs = Vec::new();
    find(&results, &mut runs);
    let mut kinds = std::collections::BTreeSet::new();
    for run in runs {
        let head = run.head().unwrap();
        kinds.insert(head.kind.to_string());
        assert_eq!(head.schema, netbench_model::SCHEMA_VERSION);
        assert!(!head.sessions.is_empty() && head.finished.is_some());
        match head.kind.name() {
            "connect" => {
                let manifest = run.manifest::<ConnectPlan>().unwrap();
                assert!(manifest.link.is_some() && !manifest.plan.sites.is_empty());
                has_records::<Sample>(&run);
            }
            "suite" => {
                let manifest = run.manifest::<SuitePlan>().unwrap();
                assert!(!manifest.plan.scenarios.is_empty());
                has_records::<SuiteSample>(&run);
            }
            "scan" => {
                let manifest = run.manifest::<ScanPlan>().unwrap();
                assert!(!manifest.plan.sites.is_empty());
            }
            "evaluation" => {
                let manifest = run.manifest::<EvaluationPlan>().unwrap();
                // Earlier versions had four parts.
                assert!(matches!(manifest.plan.parts.len(), 4 | 6));
                assert!(!manifest.sessions[0].command.is_empty());
            }
            "compat" => {
                let manifest = run.manifest::<CompatPlan>().unwrap();
                assert!(!manifest.plan.cases.is_empty());
                has_records::<CompatSample>(&run);
            }
            "chains" => {
                let manifest = run.manifest::<ChainsPlan>().unwrap();
                assert!(!manifest.plan.suites.is_empty());
                has_records::<ChainSample>(&run);
            }
            "roots" => {
                let manifest = run.manifest::<RootsPlan>().unwrap();
                assert!(!manifest.plan.layouts.is_empty());
                has_records::<RootsSample>(&run);
            }
            "browser" => {
                let manifest = run.manifest::<BrowserPlan>().unwrap();
                assert!(!manifest.plan.browsers.is_empty());
                has_records::<VisitSample>(&run);
            }
            "ship" => {
                let manifest = run.manifest::<ShipPlan>().unwrap();
                assert!(!manifest.plan.stacks.is_empty());
                has_records::<ShipSample>(&run);
            }
            "features" => {
                let manifest = run.manifest::<FeaturesPlan>().unwrap();
                assert!(!manifest.plan.browsers.is_empty());
                has_records::<FeatureSample>(&run);
            }
            other => panic!("{other}"),
        }
    }
    let kinds: Vec<_> = kinds.iter().map(String::as_str).collect();
    let published = [
        "browser",
        "chains",
        "compat",
        "connect",
        "evaluation",
        "features",
        "roots",
        "scan",
        "ship",
        "suite",
    ];
    assert_eq!(kinds, published);
}

/// Tests reading as in a run of a million sites, whose records do not fit into memory.
#[test]
fn records_are_found_by_name_one_at_a_time() {
    let temp = tempfile::tempdir().unwrap();
    let run = folder(&temp.path().join("run"), 5);
    // The last of two records with the same name counts.
    let again = Sample {
        stack: StackName::new("again"),
        ..sample(3, "a", Role::Measured)
    };
    run.appender::<Sample>().unwrap().append(&again).unwrap();
    let due = [
        ("0", Some(sample(0, "a", Role::Measured))),
        ("3", Some(again)),
        ("9", None),
    ];
    for is_packed in [false, true] {
        if is_packed {
            run.pack().unwrap();
        }
        for (name, due) in &due {
            let index = run.index(|sample: Sample| sample.trial.to_string());
            assert_eq!(index.unwrap().read(name).unwrap(), *due);
        }
        let mut count = 0;
        run.each_record(|_: Sample| count += 1).unwrap();
        assert_eq!(count, 6);
    }
    let empty = RunFolder::create(&temp.path().join("empty"), &manifest()).unwrap();
    let index = empty.index(|sample: Sample| sample.site).unwrap();
    assert_eq!(index.read::<Sample>("0").unwrap(), None);
}
