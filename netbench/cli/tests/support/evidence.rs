//! Stores rows of made-up evidence as the folders that runs leave.
#![allow(
    clippy::allow_attributes,
    clippy::unwrap_used,
    reason = "a test may panic"
)]

use std::{
    fs,
    path::{Path, PathBuf},
};

use netbench_interop::{Losses, confirmation};
use netbench_model::{
    Condition, ConnectManifest, Manifest, Measure, Part, PartState, Plan, Record, Sample, Scenario,
    StackName, SuiteOutcome, SuiteSample, Work,
    compat::Judgement,
    parse_sites,
    scan::{AgainstRecord, HandshakeResult},
};
use netbench_stats::{Rng, UndecidedReason};
use netbench_store::RunFolder;
use serde_json::json;

use crate::report_support::{
    made::{NEW, OLD},
    made_parts::compat_run,
    manifest::session,
    rows::{Change, state},
    runs::{IDLE, connect_to, set_totals},
    scan_made, suite_made,
    whole::{self, MadeCase},
};

/// The parts of an evaluation that its questions rest on, in the order in which they are run.
pub(crate) const PARTS: [&str; 5] = ["features", "compat", "sites", "connections", "suite"];

/// The sites of a scan.
const SITES: usize = 101;

/// Stores a run that has begun.
pub(crate) fn store<P: Plan + Clone, R: Record>(run: &Path, manifest: &Manifest<P>, records: &[R]) {
    let mut manifest = manifest.clone();
    if !manifest.has_begun() {
        manifest.sessions.push(session("netbench"));
    }
    let folder = RunFolder::create(run, &manifest).unwrap();
    let mut appender = folder.appender::<R>().unwrap();
    for record in records {
        appender.append(record).unwrap();
    }
}

/// Stores an evaluation of `new` in place of `old`, with all of its parts but for the changes.
pub(crate) fn store_evaluation(run: &Path, changes: &[Change]) -> PathBuf {
    let mut states = PARTS.map(|part| (part, PartState::Done));
    let mut is_gone = [false; PARTS.len()];
    let mut lost = 0;
    let mut totals: &[(f64, f64)] = &[(0.995, 1.005)];
    let mut judged = vec![Judgement::Right];
    let mut cases = vec![MadeCase::handshake(0.5, 0.52), MadeCase::receive(0.9, 0.92)];
    for change in changes {
        match *change {
            Change::Without(part) => {
                states[position(part)].1 = PartState::LeftOut;
                is_gone[position(part)] = true;
            }
            Change::Ended(part, end) => states[position(part)].1 = state(end),
            Change::Never(part, end) => {
                states[position(part)].1 = state(end);
                is_gone[position(part)] = true;
            }
            Change::Lost(sites) => lost = usize::try_from(sites).unwrap(),
            Change::Totals(of) => totals = of,
            Change::Compat(judgement) => judged.push(judgement),
            Change::Suite(of) => cases = of(),
        }
    }
    RunFolder::create(run, &whole::run(&states)).unwrap();
    for (part, is_gone) in PARTS.iter().zip(is_gone) {
        let place = run.join(part);
        match *part {
            _ if is_gone => {}
            "features" => {
                fs::create_dir(&place).unwrap();
                let matrix = serde_json::to_vec(&whole::matrix()).unwrap();
                fs::write(place.join("matrix.json"), matrix).unwrap();
            }
            "compat" => {
                let (manifest, samples) = compat_run(&judged);
                store(&place.join("run/a-run"), &manifest, &samples);
            }
            "sites" => store_scan(&place.join("run/a-run"), lost),
            "connections" => {
                let (manifest, samples) = connections(totals);
                store(&place.join("run/a-run"), &manifest, &samples);
            }
            _ => store_suite(&place.join("speed/a-run"), &cases),
        }
    }
    run.to_owned()
}

fn position(part: &str) -> usize {
    PARTS.iter().position(|of| *of == part).unwrap()
}

/// Stores a scan in which the new stack loses this number of the sites that the old one reaches, each confirmed by a handshake.
fn store_scan(run: &Path, lost: usize) {
    const X25519: (&str, u16) = ("x25519", 0x1d);
    const GCM: (&str, u16) = ("TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", 0xc02f);
    const DHE: (&str, u16) = ("TLS_DHE_RSA_WITH_AES_128_GCM_SHA256", 0x009e);
    let scans: Vec<_> = (0..SITES)
        .map(|number| {
            let (kind, suite) = if number < lost {
                ("lost", DHE)
            } else {
                ("site", GCM)
            };
            let version = scan_made::version("1.2", &[suite], &[X25519]);
            let name = format!("{kind}-{number}.example");
            scan_made::site(&name, &json!({"kind": "scanned"}), &[version])
        })
        .collect();
    let lines: String = scans
        .iter()
        .map(|scan| format!("{}\n", scan.site))
        .collect();
    let mut manifest = scan_made::manifest(parse_sites(&lines).unwrap());
    manifest.plan.against = [OLD, NEW].map(StackName::new).to_vec();
    let offers = vec![
        scan_made::offer(OLD, &[GCM, DHE]),
        scan_made::offer(NEW, &[GCM]),
    ];
    let mut losses = Losses::new(offers.clone(), Vec::new());
    for scan in &scans {
        losses.add(scan);
    }
    let predicted = losses.report();
    let confirmed = predicted.sites[..lost].iter().map(|found| {
        let alert = HandshakeResult::Failed {
            class: "alert".to_owned(),
            reason: "handshake_failure".to_owned(),
            in_tls: true,
        };
        confirmation(&found.site, NEW, found.agreements[1].clone(), alert)
    });
    let against = AgainstRecord {
        confirmed: confirmed.collect(),
        offers,
    };
    store(run, &manifest, &scans);
    fs::write(
        run.join("against.json"),
        serde_json::to_vec(&against).unwrap(),
    )
    .unwrap();
}

/// Connections whose intervals of the total time are on the same sides of the limits as these: one condition for each.
fn connections(totals: &[(f64, f64)]) -> (ConnectManifest, Vec<Sample>) {
    let conditions = [Condition::Clean, Condition::Resumed];
    let is_few = totals.iter().any(|(low, _)| *low <= 0.0);
    let (mut manifest, mut samples) = connect_to(
        if is_few { 1 } else { 20 },
        &conditions[..totals.len().max(1)],
        &["near.example", "middle.example", "far.example"],
    );
    manifest.plan.stacks = [OLD, NEW].map(StackName::new).to_vec();
    for sample in &mut samples {
        sample.stack = StackName::new(renamed(sample.stack.as_str()));
    }
    let mut rng = Rng::new(1);
    set_totals(&mut samples, |sample| {
        let at = conditions
            .iter()
            .position(|of| *of == sample.condition)
            .unwrap();
        let (low, high) = totals.get(at).copied().unwrap_or((1.0, 1.0));
        // A wide interval contains the limit, wherever its middle is.
        let (ratio, noise) = match (low, high) {
            (low, high) if low <= 0.0 => (high, 0.001),
            (low, high) if high > 2.0 * low => (1.0, 1.0),
            (low, high) => ((low * high).sqrt(), 0.001),
        };
        let factor = if sample.stack.as_str() == NEW {
            ratio
        } else {
            1.0
        };
        50e6 * factor * (noise * rng.normal()).exp()
    });
    if totals.is_empty() {
        samples.retain(|sample| sample.stack.as_str() == OLD);
    }
    (manifest, samples)
}

/// Stores a run of the suite whose cases have such figures.
pub(crate) fn store_suite(run: &Path, cases: &[MadeCase]) {
    const TURNS: usize = 20;
    let fixture = suite_made::Fixture::default();
    let mut manifest = fixture.manifest();
    manifest.plan.idle = Some(IDLE);
    manifest.plan.stacks = [OLD, NEW].map(StackName::new).to_vec();
    for worker in &mut manifest.workers {
        worker.stack = renamed(&worker.stack).to_owned();
    }
    let mut rng = Rng::new(1);
    let mut samples = Vec::new();
    manifest.plan.scenarios.clear();
    for (at, case) in cases.iter().enumerate() {
        let scenario = scenario(case, at);
        manifest.plan.scenarios.push(scenario);
        let (low, high) = case.ends;
        let is_few = low <= 0.0;
        // Turns disturbed, and turns of a trial.
        let (disturbed, turns) = match case.held_back {
            Some(UndecidedReason::NeverQuiet) => (true, TURNS),
            Some(UndecidedReason::FewQuietTurns) => (false, 1),
            _ => (false, TURNS),
        };
        let ratio = if is_few { high } else { (low * high).sqrt() };
        let spread = if high > 1.3 * low { 0.5 } else { 0.0 };
        let rounds = if is_few { 1 } else { manifest.plan.rounds };
        for round in 0..rounds {
            for (stack, ratio) in [(OLD, 1.0), (NEW, ratio)] {
                let base = 100_000.0 * ratio * (spread * rng.normal()).exp();
                let disturbed = vec![disturbed; turns];
                let mut made = suite_made::measured(&scenario, base, &disturbed, 1.0, &mut rng);
                of_one_measure(&mut made, case.measure);
                samples.push(SuiteSample {
                    schema: netbench_model::SCHEMA_VERSION,
                    name: scenario.to_string(),
                    scenario,
                    stack: StackName::new(stack),
                    round,
                    started_unix_ms: 1,
                    outcome: SuiteOutcome::Ok(Box::new(made)),
                });
            }
        }
    }
    store(run, &manifest, &samples);
}

/// The scenario of a case, of which no other case of the run has the name.
fn scenario(case: &MadeCase, at: usize) -> Scenario {
    let mut scenarios = suite_made::scenarios().into_iter();
    let scenario = scenarios.find(|scenario| match scenario.work {
        Work::Bulk { .. } => case.part == Part::Bulk,
        Work::Handshake { .. } => case.part == Part::Handshake,
        Work::Verify { .. } => case.part == Part::Verify,
        _ => false,
    });
    let mut scenario = scenario.unwrap();
    if let Work::Bulk { write_bytes, .. } = &mut scenario.work {
        *write_bytes >>= at;
    }
    scenario
}

/// Leaves the figures of one measure.
fn of_one_measure(made: &mut netbench_model::SuiteMeasured, measure: Measure) {
    made.wall.retain(|of, _| *of == measure);
    made.cpu.retain(|of, _| *of == measure);
    for slice in &mut made.slices {
        for figures in [
            &mut slice.first_ns,
            &mut slice.median_ns,
            &mut slice.mean_ns,
            &mut slice.low_ns,
        ] {
            figures.retain(|of, _| *of == measure);
        }
    }
}

/// The made-up name of a stack of the fixtures.
fn renamed(stack: &str) -> &'static str {
    if stack == "openssl" { OLD } else { NEW }
}
