//! The suite's reports in every form, of a run on a machine that is disturbed half of the time.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

#[path = "support/forms.rs"]
mod forms;

use std::collections::BTreeMap;

use forms::{render, terminal};
use netbench_model::{
    Aead, Case, Distribution, Environment, Failure, FailureClass, HandshakeKind, HeapUse, Held,
    IdleReference, KeyType, LayoutRecord, Measure, Origin, PinRecord, Plan, ReferenceFigures,
    SCHEMA_VERSION, Scenario, Session, SessionSettings, SliceFigures, StackName, SuiteManifest,
    SuiteMeasured, SuiteOutcome, SuitePlan, SuiteSample, TlsVersion, Unit, Work, WorkerRecord,
};
use netbench_report::{
    Regression, SuiteReport, SuiteSummary, compare_runs_of_suite, compare_stacks_of_suite, decided,
    join_runs_of_suite, summarize_suite,
};
use netbench_stats::{Rng, Verdict};

/// How much longer the second stack takes, in each stack's own figure.
struct Fixture {
    seed: u64,
    rounds: u32,
    ratio: f64,
    preset: Option<&'static str>,
    disturbed: u32,
    /// How many times longer the second stack takes while the machine is disturbed; the first takes 1.4 times
    /// as long.
    suffers: f64,
}

impl Default for Fixture {
    fn default() -> Self {
        Self {
            seed: 1,
            rounds: 12,
            ratio: 0.5,
            preset: None,
            disturbed: 50,
            suffers: 1.7,
        }
    }
}

fn settings() -> SessionSettings {
    SessionSettings::usual(TlsVersion::Tls13, KeyType::Rsa2048, Aead::Aes256Gcm)
}

fn handshake() -> Scenario {
    Scenario::timed(Work::Handshake {
        kind: HandshakeKind::Full,
        settings: settings(),
    })
}

fn scenarios() -> Vec<Scenario> {
    vec![
        Scenario::timed(Work::Bulk {
            settings: settings(),
            write_bytes: 1 << 20,
            amount_bytes: 1_000_000_000,
            max_fragment_bytes: None,
        }),
        handshake(),
        Scenario::timed(Work::Verify {
            key: KeyType::EcdsaP256,
            chain_length: 2,
            roots: 118,
        }),
        Scenario::timed(Work::Memory {
            settings: settings(),
            sessions: 1_000,
        }),
        Scenario::counted(handshake().work),
    ]
}

impl Fixture {
    fn manifest(&self) -> SuiteManifest {
        let worker = |stack: &str| WorkerRecord {
            executable: "worker".to_owned(),
            stack: stack.to_owned(),
            library: format!("{stack} 1.0"),
            provider: None,
            connector: String::new(),
            build: BTreeMap::new(),
        };
        SuiteManifest {
            schema: SCHEMA_VERSION,
            kind: SuitePlan::KIND,
            netbench: "0.1.0".to_owned(),
            name: "a-run\u{1b}[31m".to_owned(),
            started: "2026-01-02T03:04:05Z".to_owned(),
            finished: Some("2026-01-02T03:05:05Z".to_owned()),
            plan: SuitePlan {
                seed: self.seed,
                stacks: ["openssl", "rustls-ring"].map(StackName::new).to_vec(),
                preset: self.preset.map(str::to_owned),
                scenarios: scenarios(),
                rounds: self.rounds,
                until_decided: false,
                budget_ms: None,
                trial_ms: 100,
                slice_us: 4_000,
                pin: PinRecord::Core(1),
                layout: LayoutRecord::Fixed,
                idle: None,
                pki_sha256: "aa".to_owned(),
            },
            workers: vec![worker("openssl"), worker("rustls-ring")],
            environment: Environment {
                facts: BTreeMap::from([
                    ("cpu_model".to_owned(), "A Processor".to_owned()),
                    ("cores".to_owned(), "2".to_owned()),
                    ("virtual_machine".to_owned(), "yes".to_owned()),
                ]),
                variables: BTreeMap::new(),
            },
            sessions: vec![Session {
                started: "2026-01-02T03:04:05Z".to_owned(),
                finished: None,
                command: ["netbench", "suite"].map(str::to_owned).to_vec(),
                interrupted: false,
                served: Vec::new(),
            }],
            warnings: Vec::new(),
            link: None,
            origin: Origin::default(),
        }
    }

    fn samples(&self) -> Vec<SuiteSample> {
        let mut rng = Rng::new(self.seed);
        let mut samples = Vec::new();
        for round in 0..self.rounds {
            for (at, scenario) in scenarios().iter().enumerate() {
                if round >= scenario.rounds_of_use(self.rounds) {
                    continue;
                }
                // What disturbs the machine disturbs both, and the second more.
                let disturbed: Vec<bool> =
                    (0..20).map(|_| rng.below(100) < self.disturbed).collect();
                for (stack, ratio, suffers) in [
                    ("openssl", 1.0, 1.4),
                    ("rustls-ring", self.ratio, self.suffers),
                ] {
                    let base = 100_000.0 * (at + 1) as f64 * ratio;
                    let outcome = match scenario.work {
                        Work::Verify { .. } if stack == "rustls-ring" => {
                            SuiteOutcome::Unsupported {
                                reason: "no such thing\u{1b}]0;title\u{7}".to_owned(),
                            }
                        }
                        Work::Handshake { .. } if round == 2 && stack == "openssl" => {
                            SuiteOutcome::Failed(Failure {
                                class: FailureClass::Worker,
                                reason: "died".to_owned().into(),
                                detail: "the worker was killed by signal 9 <b>".to_owned(),
                                phase: None,
                                after_ns: None,
                            })
                        }
                        _ => SuiteOutcome::Ok(Box::new(measured(
                            scenario, base, &disturbed, suffers, &mut rng,
                        ))),
                    };
                    samples.push(SuiteSample {
                        schema: SCHEMA_VERSION,
                        name: scenario.to_string(),
                        scenario: *scenario,
                        stack: StackName::new(stack),
                        round,
                        started_unix_ms: 1,
                        outcome,
                    });
                }
            }
        }
        samples
    }

    fn report(&self) -> SuiteReport {
        SuiteReport::new(self.manifest(), &self.samples())
    }

    fn summary(&self) -> SuiteSummary {
        summarize_suite(&self.manifest(), &self.samples())
    }
}

fn measured(
    scenario: &Scenario,
    base: f64,
    disturbed: &[bool],
    suffers: f64,
    rng: &mut Rng,
) -> SuiteMeasured {
    let mut made = SuiteMeasured::default();
    if scenario.counted {
        made.instructions = scenario
            .measures()
            .iter()
            .map(|m| (*m, base.round()))
            .collect();
        return made;
    }
    if let Work::Memory { sessions, .. } = scenario.work {
        let bytes = |each: f64| (each * f64::from(sessions)) as u64;
        made.held = Some(Held {
            sessions,
            peak_bytes: bytes(base / 5.0),
            before_bytes: 5_000_000,
            after_bytes: 5_000_000 + bytes(base / 10.0),
            heap: Some(HeapUse {
                allocations: bytes(base / 1_000.0),
                held_bytes: bytes(base / 20.0),
                peak_bytes: bytes(base / 15.0),
            }),
        });
        return made;
    }
    let mut all: BTreeMap<Measure, Vec<u64>> = BTreeMap::new();
    for disturbed in disturbed {
        let level = base * if *disturbed { suffers } else { 1.0 };
        let low_ns: BTreeMap<Measure, f64> = scenario
            .measures()
            .iter()
            .map(|m| (*m, level * (1.0 + 0.004 * rng.normal())))
            .collect();
        for (measure, low) in &low_ns {
            let timings = (0..10u32).map(|i| (low * (0.99 + 0.01 * f64::from(i))) as u64);
            all.entry(*measure).or_default().extend(timings);
        }
        made.slices.push(SliceFigures {
            operations: 10,
            median_ns: low_ns.clone(),
            mean_ns: low_ns.clone(),
            low_ns,
            reference: Some(reference(*disturbed, rng)),
        });
    }
    made.wall = all
        .into_iter()
        .map(|(measure, ns)| (measure, Distribution::of_ns(ns)))
        .collect();
    made.cpu.clone_from(&made.wall);
    made
}

fn reference(disturbed: bool, rng: &mut Rng) -> ReferenceFigures {
    let slow = if disturbed { 1.35 } else { 1.0 };
    let mut ns = |idle: f64| idle * slow * (1.0 + 0.002 * rng.normal());
    ReferenceFigures {
        count: 30,
        integer_ns: ns(2_600.0),
        aes_ns: ns(2_100.0),
        memory_ns: ns(1_500.0),
    }
}

fn verdict(summary: &SuiteSummary, scenario: Scenario, measure: Measure) -> (f64, Verdict) {
    let case = Case { scenario, measure };
    let row = summary.cases.iter().find(|row| row.case == case).unwrap();
    let paired = row.verdicts[0].paired;
    (paired.ratio, paired.verdict)
}

#[test]
fn terminal_and_markdown() {
    let report = Fixture::default().report();
    insta::assert_snapshot!("suite_terminal", terminal(&report, 120));
    insta::assert_snapshot!("suite_markdown", render(&report, "markdown"));
    for line in terminal(&report, 40).lines() {
        let words = line.split(' ').count();
        assert!(words == 1 || line.chars().count() <= 64, "{line:?}");
    }
}

#[test]
fn a_preset_prints_its_table_and_the_published_one() {
    let fixture = Fixture {
        preset: Some("rustls-vs-openssl"),
        ..Fixture::default()
    };
    let report = fixture.report();
    let text = terminal(&report, 120);
    let (_, table) = text.split_once("rustls-vs-openssl: measured here").unwrap();
    let (tables, _) = table.split_once("\nApplication data").unwrap();
    insta::assert_snapshot!("suite_preset", tables);
    assert_eq!(report.summary.published.as_ref().unwrap().rows.len(), 20);
}

#[test]
fn nothing_that_a_terminal_obeys_is_in_any_form() {
    let report = Fixture::default().report();
    let compared = compare_stacks_of_suite(
        &Fixture::default().manifest(),
        &Fixture::default().samples(),
        &StackName::new("openssl"),
        &StackName::new("rustls-ring"),
        Some(0.02),
    );
    let forms = ["terminal", "markdown", "csv", "junit", "html"];
    let texts = forms
        .iter()
        .flat_map(|form| [render(&report, form), render(&compared, form)]);
    for text in texts {
        let obeyed = text.chars().find(|c| c.is_control() && *c != '\n');
        assert_eq!(obeyed, None, "{text}");
    }
    assert!(!render(&report, "markdown").contains("<b>"));
}

#[test]
fn what_is_published_fits_its_schema() {
    let valid = |file: &str, instance: &serde_json::Value| {
        let path = format!("{}/../schemas/{file}", env!("CARGO_MANIFEST_DIR"));
        let schema = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
        let validator = jsonschema::validator_for(&schema).unwrap();
        if let Err(error) = validator.validate(instance) {
            panic!("{file}: {error} at {}", error.instance_path());
        }
    };
    let fixture = Fixture {
        preset: Some("memory-table"),
        ..Fixture::default()
    };
    let summary = serde_json::from_str(&render(&fixture.report(), "json")).unwrap();
    valid("suite-summary.json", &summary);
    valid(
        "suite-run.json",
        &serde_json::to_value(fixture.manifest()).unwrap(),
    );
    for sample in fixture.samples() {
        valid("suite-sample.json", &serde_json::to_value(sample).unwrap());
    }
    let joined = join_runs_of_suite(
        &[1, 2].map(|_| (fixture.manifest(), fixture.samples())),
        None,
    );
    let joined = serde_json::from_str(&render(&joined, "json")).unwrap();
    valid("joined-summary.json", &joined);
}

#[test]
fn disturbed_turns_do_not_move_a_verdict() {
    // Both suffer, the second more: over all turns it would be 0.55 times the first.
    for disturbed in [0, 50, 80] {
        let fixture = Fixture {
            rounds: 20,
            disturbed,
            ..Fixture::default()
        };
        let summary = fixture.summary();
        let (ratio, verdict) = verdict(&summary, handshake(), Measure::Server);
        assert!((ratio - 0.5).abs() < 0.005, "{disturbed} %: {ratio}");
        assert_eq!(verdict, Verdict::Faster);
        assert!((summary.disturbed_share() * 100.0 - f64::from(disturbed)).abs() < 8.0);
    }
}

#[test]
fn equal_stacks_are_the_same_and_slower_ones_slower() {
    for (ratio, expected) in [
        (1.0, Verdict::Same),
        (1.03, Verdict::Slower),
        (0.97, Verdict::Faster),
    ] {
        let fixture = Fixture {
            rounds: 20,
            ratio,
            suffers: 1.4,
            ..Fixture::default()
        };
        let (_, found) = verdict(&fixture.summary(), handshake(), Measure::Client);
        assert_eq!(found, expected, "{ratio}");
    }
}

#[test]
fn where_disturbance_is_worth_more_than_the_difference_there_is_no_verdict() {
    let fixture = Fixture {
        rounds: 20,
        ratio: 1.03,
        ..Fixture::default()
    };
    let report = fixture.report();
    let (ratio, found) = verdict(&report.summary, handshake(), Measure::Client);
    assert!((ratio - 1.03).abs() < 0.005, "{ratio}");
    assert_eq!(found, Verdict::Undecided);
    let said = "no verdict: depends on how busy the machine is";
    assert!(render(&report, "markdown").contains(said));
}

#[test]
fn a_machine_that_was_never_quiet_gives_no_verdict() {
    let fixture = Fixture::default();
    let mut manifest = fixture.manifest();
    manifest.plan.idle = Some(IdleReference {
        integer_ns: 2_600.0,
        aes_ns: 2_000.0,
        memory_ns: 1_500.0,
    });
    let summary = summarize_suite(&manifest, &fixture.samples());
    let (_, found) = verdict(&summary, handshake(), Measure::Client);
    assert_eq!(found, Verdict::Undecided);
    let warned = |text: &String| text.contains("never quiet during 4 comparisons");
    assert!(
        summary.warnings.iter().any(warned),
        "{:?}",
        summary.warnings
    );
}

#[test]
fn a_run_without_reference_loops_is_compared_over_all_turns() {
    let fixture = Fixture {
        disturbed: 80,
        ..Fixture::default()
    };
    let mut samples = fixture.samples();
    for sample in &mut samples {
        if let SuiteOutcome::Ok(measured) = &mut sample.outcome {
            for slice in &mut measured.slices {
                slice.reference = None;
            }
        }
    }
    let summary = summarize_suite(&fixture.manifest(), &samples);
    let (ratio, found) = verdict(&summary, handshake(), Measure::Client);
    // Disturbed for four fifths of the time, the second stack takes 0.5 × 1.7 / 1.4 of the first one's.
    assert!((0.60..0.61).contains(&ratio), "{ratio}");
    assert_eq!(found, Verdict::Faster);
    let warned = |text: &String| text.contains("has no reference loops");
    assert!(
        summary.warnings.iter().any(warned),
        "{:?}",
        summary.warnings
    );
}

#[test]
fn dear_operations_that_a_low_percentile_hides_are_marked() {
    let fixture = Fixture {
        suffers: 1.4,
        ..Fixture::default()
    };
    let mut samples = fixture.samples();
    for sample in &mut samples {
        if let SuiteOutcome::Ok(measured) = &mut sample.outcome
            && sample.stack.as_str() == "openssl"
        {
            for slice in &mut measured.slices {
                slice.mean_ns.values_mut().for_each(|ns| *ns *= 1.05);
            }
        }
    }
    let report = SuiteReport::new(fixture.manifest(), &samples);
    let shown = render(&report, "markdown");
    assert!(shown.contains("the mean differs"));
    assert!(!shown.contains("the median differs"));
}

#[test]
fn a_case_that_cannot_be_judged_does_not_pass_in_silence() {
    let compare = |ratio: f64, rounds: u32| {
        let fixture = Fixture {
            ratio,
            rounds,
            ..Fixture::default()
        };
        let (first, other) = (StackName::new("openssl"), StackName::new("rustls-ring"));
        let (manifest, samples) = (fixture.manifest(), fixture.samples());
        compare_stacks_of_suite(&manifest, &samples, &first, &other, Some(0.02))
    };
    // Of one round nothing is known, however large the change.
    let doubtful = compare(3.0, 1);
    assert_eq!(doubtful.regressed, 0);
    assert_eq!(doubtful.doubtful as usize, doubtful.cases.len());
    let told = terminal(&doubtful, 200);
    for case in &doubtful.cases {
        assert_eq!(case.regression, Regression::Doubtful, "{}", case.name);
        assert!(
            told.contains(&format!("{} {:.2}×", case.name, case.ratio)),
            "{told}"
        );
    }
    assert!(render(&doubtful, "junit").contains("too few rounds"));
    let unknown = compare(0.5, 1);
    assert_eq!((unknown.regressed, unknown.doubtful), (0, 0));
    let none = |case: &netbench_report::ComparedCase| case.regression == Regression::Unknown;
    assert!(unknown.cases.iter().all(none));
    assert!(terminal(&unknown, 200).contains("cannot be judged"));
}

#[test]
fn two_runs_regress_beyond_the_threshold_and_not_before() {
    let (before, after) = (
        Fixture::default(),
        Fixture {
            seed: 2,
            ratio: 0.53,
            ..Fixture::default()
        },
    );
    let (a, b) = (before.samples(), after.samples());
    let (first, mut other) = (before.manifest(), after.manifest());
    let compare = |other: &SuiteManifest, threshold| {
        let stack = StackName::new("rustls-ring");
        compare_runs_of_suite(
            (&first, &a),
            (other, &b),
            Some((&stack, &stack)),
            Some(threshold),
        )
    };
    let regressed = compare(&other, 0.02);
    assert!(
        regressed.differences.is_empty(),
        "{:?}",
        regressed.differences
    );
    // Every case but that of the scenario that the stack cannot do.
    assert_eq!(regressed.regressed as usize, regressed.cases.len());
    assert_eq!(regressed.cases.len(), 10);
    assert_eq!(regressed.missing.len(), 1);
    insta::assert_snapshot!("compare_junit", render(&regressed, "junit"));
    insta::assert_snapshot!("compare_markdown", render(&regressed, "markdown"));
    let within = compare(&other, 0.10);
    assert_eq!(within.regressed, 0);
    assert!(
        within
            .cases
            .iter()
            .all(|case| case.regression == Regression::Within)
    );

    other.plan.slice_us = 1_000;
    let differs = compare(&other, 0.02).differences;
    assert!(differs.iter().any(|d| d.what == "slice_us" && !d.harmless));
}

#[test]
fn runs_of_other_days_are_joined() {
    let run = |seed, ratio| {
        let fixture = Fixture {
            seed,
            ratio,
            rounds: 30,
            ..Fixture::default()
        };
        let mut manifest = fixture.manifest();
        manifest.name = format!("run-{seed}");
        (manifest, fixture.samples())
    };
    let alike = join_runs_of_suite(&[run(4, 0.5), run(5, 0.5), run(6, 0.5)], None);
    assert_eq!((alike.heterogeneous, alike.cases.len()), (0, 10));
    assert_eq!(alike.pairs, alike.overlapping);
    insta::assert_snapshot!("joined_markdown", render(&alike, "markdown"));

    let differing = join_runs_of_suite(&[run(1, 0.50), run(2, 0.51), run(3, 0.52)], None);
    let handshakes = differing
        .cases
        .iter()
        .filter(|case| case.unit == Unit::Nanoseconds);
    for case in handshakes {
        let joined = case.joined.unwrap();
        assert!(case.is_heterogeneous(), "{case:?}");
        assert!((joined.ratio - 0.51).abs() < 0.003, "{case:?}");
        assert!((joined.between_runs - 0.02).abs() < 0.004, "{case:?}");
        assert!(joined.interval.low < 0.50 && joined.interval.high > 0.52);
    }
    assert!(differing.overlapping < differing.pairs);
}

#[test]
fn only_looks_decide() {
    let fixture = Fixture {
        rounds: 9,
        ..Fixture::default()
    };
    let (plan, samples) = (fixture.manifest().plan, fixture.samples());
    assert_eq!(decided(&plan, &samples, 8), Vec::<usize>::new());
    let found = decided(&plan, &samples, 9);
    assert!(found.contains(&1), "{found:?}");
    // With three rounds of which one failed, nothing is known of how rounds differ.
    assert!(!found.contains(&4), "{found:?}");
}
