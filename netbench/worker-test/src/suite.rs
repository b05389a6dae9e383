use std::{path::Path, time::Duration};

use netbench_lab::{SUITE_HOST, suite_pki};
use netbench_model::{
    ClientAuth, Group, HandshakeKind, KeyType, ParallelWork, RootsForm, Scenario, SessionSettings,
    SuiteAead, TlsVersion, Work,
};
use netbench_protocol::{
    Clocks, Hold, Material, Prepare, RequestBody, ResponseBody, Slice, SliceLimit,
};
use netbench_runner::{Launch, Worker, WorkerError};

const LIMIT: Duration = Duration::from_secs(60);

/// Operations of each turn.
const OPERATIONS: u32 = 2;

/// What every worker that does the suite must get right: each scenario runs and is what was asked for,
/// or is unsupported with a reason; and nothing that is wrong ends it.
///
/// # Panics
/// With what was wrong.
pub fn suite(worker: &Path, stack: &str) {
    let mut bench = Bench::start(worker, stack);
    bench.refuses_what_is_wrong();
    for scenario in scenarios() {
        bench.runs(&scenario);
    }
    bench.holds();
}

struct Bench {
    worker: Worker,
    stack: String,
}

/// Every value of every setting, though not every combination.
fn scenarios() -> Vec<Scenario> {
    use HandshakeKind::Full;
    let usual = |version, key| SessionSettings::usual(version, key, SuiteAead::Aes128Gcm);
    let mut all = Vec::new();
    let mut put = |work| all.push(Scenario::timed(work));
    for version in TlsVersion::ALL {
        for kind in HandshakeKind::ALL {
            let settings = usual(*version, KeyType::Rsa2048);
            put(Work::Handshake {
                kind: *kind,
                settings,
            });
            put(Work::Threads {
                threads: 2,
                work: ParallelWork::Handshake(*kind),
                settings,
            });
        }
        for key in KeyType::ALL {
            for client_auth in ClientAuth::ALL {
                let settings = SessionSettings {
                    client_auth: *client_auth,
                    ..usual(*version, *key)
                };
                put(Work::Handshake {
                    kind: Full,
                    settings,
                });
            }
        }
        for group in Group::ALL {
            for chain_length in [1, 4] {
                let settings = SessionSettings {
                    group: *group,
                    chain_length,
                    ..usual(*version, KeyType::EcdsaP256)
                };
                if settings.is_defined() {
                    put(Work::Handshake {
                        kind: Full,
                        settings,
                    });
                }
            }
        }
        for aead in SuiteAead::ALL {
            let settings = SessionSettings::usual(*version, KeyType::EcdsaP256, *aead);
            for (write_bytes, max_fragment_bytes) in [
                (1 << 10, None),
                (16 << 10, Some(512)),
                (1 << 20, Some(4096)),
            ] {
                put(Work::Bulk {
                    settings,
                    write_bytes,
                    amount_bytes: 100_000,
                    max_fragment_bytes,
                });
            }
        }
    }
    for key in KeyType::ALL {
        put(Work::Verify {
            key: *key,
            chain_length: 3,
            roots: 1,
        });
    }
    for form in [RootsForm::Pem, RootsForm::Der] {
        put(Work::Connector {
            form,
            roots: Some(1),
        });
    }
    all
}

fn material(key: KeyType, chain_length: u8) -> Material {
    let pki = suite_pki(key, chain_length);
    Material {
        host: SUITE_HOST.to_owned(),
        chain_pem: pki.chain_pem,
        key_pem: pki.key_pem,
        client_chain_pem: pki.client_chain_pem,
        client_key_pem: pki.client_key_pem,
        roots_pem: pki.root_pem,
        native_path: None,
    }
}

fn of_scenario(scenario: &Scenario) -> Material {
    match (scenario.settings(), scenario.work) {
        (Some(settings), _) => material(settings.key, settings.chain_length),
        (
            None,
            Work::Verify {
                key, chain_length, ..
            },
        ) => material(key, chain_length),
        (None, _) => material(KeyType::Rsa2048, 1),
    }
}

impl Bench {
    fn start(worker: &Path, stack: &str) -> Self {
        Self {
            worker: Worker::start(worker, &Launch::default()).expect("the worker starts"),
            stack: stack.to_owned(),
        }
    }

    fn ask(&mut self, body: RequestBody) -> Result<ResponseBody, WorkerError> {
        self.worker.ask(body, LIMIT)
    }

    fn prepare(&mut self, scenario: &Scenario, material: Material) -> ResponseBody {
        let request = RequestBody::Prepare(Box::new(Prepare {
            stack: self.stack.clone(),
            scenario: *scenario,
            material,
        }));
        self.ask(request).expect("an answer to prepare")
    }

    fn runs(&mut self, scenario: &Scenario) {
        let prepared = match self.prepare(scenario, of_scenario(scenario)) {
            ResponseBody::Prepared(prepared) => prepared,
            ResponseBody::Unsupported { reason } => {
                let hybrid = scenario
                    .settings()
                    .is_some_and(|settings| settings.group == Group::X25519MlKem768);
                assert!(hybrid && !reason.is_empty(), "{scenario}: {reason}");
                println!("{}: {scenario} is unsupported: {reason}", self.stack);
                return;
            }
            other => panic!("{scenario}: {other:?}"),
        };
        netbench_runner::prove_prepared(scenario, &prepared)
            .unwrap_or_else(|why| panic!("{scenario}: {why}"));
        for clocks in [Clocks::Wall, Clocks::Cpu] {
            let slice = Slice {
                limit: SliceLimit::Operations(OPERATIONS),
                clocks,
            };
            let sliced = match self.ask(RequestBody::Slice(slice)) {
                Ok(ResponseBody::Sliced(sliced)) => sliced,
                other => panic!("{scenario}: {other:?}"),
            };
            netbench_runner::prove_slice(scenario, &sliced)
                .unwrap_or_else(|why| panic!("{scenario}: {why}"));
            let threads = match scenario.work {
                Work::Threads { threads, .. } => u32::from(threads),
                _ => 1,
            };
            assert_eq!(sliced.operations, OPERATIONS * threads, "{scenario}");
            if clocks == Clocks::Wall {
                let mut timings = sliced.timings_ns.values().flatten();
                assert!(timings.all(|ns| *ns > 0), "{scenario}: {sliced:?}");
            }
        }
    }

    fn holds(&mut self) {
        let settings =
            SessionSettings::usual(TlsVersion::Tls13, KeyType::EcdsaP256, SuiteAead::Aes128Gcm);
        let scenario = Scenario::timed(Work::Memory {
            settings,
            sessions: 40,
        });
        let answer = self.prepare(&scenario, of_scenario(&scenario));
        assert!(matches!(answer, ResponseBody::Prepared(_)), "{answer:?}");
        match self.ask(RequestBody::Hold(Hold { sessions: 40 })) {
            Ok(ResponseBody::Held(held)) => {
                assert_eq!(held.sessions, 40);
                assert!(held.peak_bytes >= held.after_bytes && held.before_bytes > 0);
                assert_eq!(held.heap, None, "nobody counts allocations here");
            }
            other => panic!("{other:?}"),
        }
    }

    fn refuses_what_is_wrong(&mut self) {
        let slice = RequestBody::Slice(Slice {
            limit: SliceLimit::Operations(1),
            clocks: Clocks::Wall,
        });
        let before = self.ask(slice);
        assert!(matches!(before, Err(WorkerError::Refused(_))), "{before:?}");

        let settings =
            SessionSettings::usual(TlsVersion::Tls13, KeyType::EcdsaP256, SuiteAead::Aes128Gcm);
        let scenario = Scenario::timed(Work::Handshake {
            kind: HandshakeKind::Full,
            settings,
        });
        let good = of_scenario(&scenario);
        let other = material(KeyType::Rsa2048, 2);
        let wrong = [
            Material {
                chain_pem: "no PEM\u{1b}".to_owned(),
                ..good.clone()
            },
            Material {
                key_pem: other.key_pem.clone(),
                ..good.clone()
            },
            Material {
                roots_pem: other.roots_pem.clone(),
                ..good.clone()
            },
            Material {
                host: "elsewhere.netbench.test".to_owned(),
                ..good.clone()
            },
            Material::default(),
        ];
        for wrong in wrong {
            match self.prepare(&scenario, wrong) {
                ResponseBody::Failed(failure) => {
                    assert!(!failure.detail.chars().any(char::is_control), "{failure:?}");
                }
                other => panic!("{other:?}"),
            }
        }
        let answer = self.prepare(&scenario, good);
        assert!(matches!(answer, ResponseBody::Prepared(_)), "{answer:?}");
    }
}
