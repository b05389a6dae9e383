//! An artificial run of the suite, on a machine that is disturbed half of the time.

use std::collections::BTreeMap;

use netbench_model::{
    Aead, Distribution, Environment, Failure, FailureClass, HandshakeKind, HeapState, HeapUse,
    Held, HeldAfter, IdleReference, KeyType, LayoutRecord, Measure, PinRecord, ReferenceFigures,
    SCHEMA_VERSION, Scenario, SessionSettings, SliceFigures, StackName, SuiteManifest,
    SuiteMeasured, SuiteOutcome, SuitePlan, SuiteSample, TlsVersion, Work,
};
use netbench_report::{SuiteReport, SuiteSummary, summarize_suite};
use netbench_stats::Rng;

use super::manifest::{manifest_of, session, worker};

/// A run in which the second stack takes `ratio` times as long as the first.
pub(crate) struct Fixture {
    pub(crate) seed: u64,
    pub(crate) rounds: u32,
    pub(crate) ratio: f64,
    pub(crate) preset: Option<&'static str>,
    pub(crate) disturbed: u32,
    /// The factor by which the second stack takes longer while the machine is disturbed; the factor of the first is
    /// 1.4.
    pub(crate) suffers: f64,
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

pub(crate) fn settings() -> SessionSettings {
    SessionSettings::usual(TlsVersion::Tls13, KeyType::Rsa2048, Aead::Aes256Gcm)
}

pub(crate) fn handshake() -> Scenario {
    Scenario::timed(Work::Handshake {
        kind: HandshakeKind::Full,
        settings: settings(),
    })
}

pub(crate) fn scenarios() -> Vec<Scenario> {
    vec![
        Scenario::timed(Work::Bulk {
            settings: settings(),
            write_bytes: 1 << 20,
            amount_bytes: 1_000_000_000,
            max_fragment_bytes: None,
            heap: HeapState::Settled,
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
            after: HeldAfter::Handshake,
        }),
        Scenario::counted(handshake().work),
    ]
}

/// The reference loops at rest of a machine that was never as quiet as this in a made run.
pub(crate) const NEVER_QUIET: IdleReference = IdleReference {
    integer_ns: 2_600.0,
    aes_ns: 2_000.0,
    memory_ns: 1_500.0,
};

impl Fixture {
    pub(crate) fn manifest(&self) -> SuiteManifest {
        SuiteManifest {
            name: "a-run\u{1b}[31m".to_owned(),
            finished: Some("2026-01-02T03:05:05Z".to_owned()),
            workers: ["openssl", "rustls-ring"].map(worker).into(),
            environment: Environment {
                facts: BTreeMap::from([
                    ("cpu_model".to_owned(), "A Processor".to_owned()),
                    ("cores".to_owned(), "2".to_owned()),
                    ("virtual_machine".to_owned(), "yes".to_owned()),
                ]),
                variables: BTreeMap::new(),
            },
            sessions: vec![session("netbench suite")],
            ..manifest_of(SuitePlan {
                seed: self.seed,
                stacks: ["openssl", "rustls-ring"].map(StackName::new).to_vec(),
                preset: self.preset.map(str::to_owned),
                scenarios: scenarios(),
                rounds: self.rounds,
                until_decided: false,
                budget_ms: None,
                trial_ms: 100,
                slice_us: 4_000,
                turn_operations: Some(20),
                pin: PinRecord::Core(1),
                layout: LayoutRecord::Fixed,
                idle: None,
                idle_beside: BTreeMap::new(),
                pki_sha256: "aa".to_owned(),
            })
        }
    }

    pub(crate) fn samples(&self) -> Vec<SuiteSample> {
        let mut rng = Rng::new(self.seed);
        let mut samples = Vec::new();
        for round in 0..self.rounds {
            for (at, scenario) in scenarios().iter().enumerate() {
                if round >= scenario.rounds_of_use(self.rounds) {
                    continue;
                }
                // A disturbance affects both stacks, and the second more.
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

    pub(crate) fn report(&self) -> SuiteReport {
        SuiteReport::new(self.manifest(), &self.samples())
    }

    pub(crate) fn summary(&self) -> SuiteSummary {
        summarize_suite(&self.manifest(), &self.samples())
    }
}

/// One trial, whose operations take `base` nanoseconds in turns that are not disturbed.
pub(crate) fn measured(
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
        made.held = Some(Held {
            sessions,
            peak_bytes: bytes(base / 5.0, sessions),
            before_bytes: 5_000_000,
            after_bytes: 5_000_000 + bytes(base / 10.0, sessions),
            ticket_bytes: 0,
            client_data_bytes: 0,
            server_data_bytes: 0,
            released_by: None,
            heap: Some(HeapUse {
                allocations: bytes(base / 1_000.0, sessions),
                held_bytes: bytes(base / 20.0, sessions),
                peak_bytes: bytes(base / 15.0, sessions),
                client_bytes: Some(bytes(base / 50.0, sessions)),
                server_bytes: Some(bytes(base / 200.0, sessions)),
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
            let timings = (0..20u32).map(|i| (low * (0.99 + 0.01 * f64::from(i))) as u64);
            all.entry(*measure).or_default().extend(timings);
        }
        made.slices.push(SliceFigures {
            operations: 20,
            warm_up: 10,
            batch: 1,
            first_ns: low_ns.iter().map(|(m, ns)| (*m, 1.4 * ns)).collect(),
            median_ns: low_ns.clone(),
            mean_ns: low_ns.clone(),
            low_ns,
            reference: Some(reference(*disturbed, rng)),
            minor_faults: Some(6),
        });
    }
    made.wall = all
        .into_iter()
        .map(|(measure, ns)| (measure, Distribution::of_ns(ns)))
        .collect();
    made.cpu.clone_from(&made.wall);
    made
}

/// Returns the figures of the trials that ended well, each with its stack.
pub(crate) fn figures(
    samples: &mut [SuiteSample],
) -> impl Iterator<Item = (&str, &mut SuiteMeasured)> {
    let outcomes = samples.iter_mut();
    let outcomes = outcomes.map(|sample| (sample.stack.as_str(), &mut sample.outcome));
    outcomes.filter_map(|(stack, outcome)| match outcome {
        SuiteOutcome::Ok(measured) => Some((stack, &mut **measured)),
        _ => None,
    })
}

/// Returns the turns of all trials.
pub(crate) fn slices(samples: &mut [SuiteSample]) -> impl Iterator<Item = &mut SliceFigures> {
    figures(samples).flat_map(|(_, measured)| &mut measured.slices)
}

fn bytes(each: f64, sessions: u32) -> u64 {
    (each * f64::from(sessions)) as u64
}

fn reference(disturbed: bool, rng: &mut Rng) -> ReferenceFigures {
    // Work on the core's sibling slows loads, and hardly affects other operations.
    let [integer, aes, loads] = if disturbed {
        [1.005, 1.01, 1.35]
    } else {
        [1.0; 3]
    };
    let [integer_ns, aes_ns, memory_ns] = [2_600.0 * integer, 2_100.0 * aes, 1_500.0 * loads]
        .map(|ns| ns * (1.0 + 0.002 * rng.normal()));
    ReferenceFigures {
        count: 30,
        integer_ns,
        aes_ns,
        memory_ns,
    }
}
