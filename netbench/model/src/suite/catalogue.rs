//! Which scenarios there are: everything that can be asked for by name, what a part does by default,
//! and the presets.

use crate::{Group, KeyType, TlsVersion, named::named};

use super::{
    Aead, ClientAuth, HandshakeKind, ParallelWork, Part, RootsForm, Scenario, SessionSettings,
    Work,
    name::{USUAL_AMOUNT, USUAL_WRITE},
};

/// Numbers of trust roots: the chain's own alone, a few, Mozilla's of today, as many as Servo had
/// in 2017, and far too many.
const ROOTS: [u32; 5] = [1, 10, 118, 159, 1_000];

/// Sessions of the published table of memory (C10K).
const SESSIONS: [u32; 4] = [100, 1_000, 5_000, 10_000];

named!(
    /// A published benchmark whose form is reproduced.
    Preset, "preset", {
        /// rustls' own comparison with OpenSSL: its twenty rows, with x25519, and the handshakes of TLS 1.3 with
        /// X25519MLKEM768, which is what both libraries choose by themselves today.
        RustlsVsOpenssl = "rustls-vs-openssl",
        /// The comparison of memory up to ten thousand sessions.
        MemoryTable = "memory-table",
        /// s2n-tls' harness: latency by key type, throughput, memory.
        S2n = "s2n",
        /// Bertie's benchmark: 100 MB in chunks of 16 KiB, a P-256 certificate, two groups.
        Bertie = "bertie",
    }
);

/// Every scenario that can be asked for, with as many threads as `cores`.
pub fn catalogue(cores: u16) -> Vec<Scenario> {
    let mut all = Vec::new();
    for kind in HandshakeKind::ALL {
        all.extend(SessionSettings::all().map(|settings| handshake(*kind, settings)));
    }
    for settings in common() {
        for write_bytes in [1, 4, 16, 64, 256, 1024].map(|kib: u32| kib << 10) {
            for amount_bytes in [1_000_000, 10_000_000, USUAL_AMOUNT, 1_000_000_000] {
                for max_fragment_bytes in [None, Some(512), Some(1024), Some(4096)] {
                    all.push(Scenario::timed(Work::Bulk {
                        settings,
                        write_bytes,
                        amount_bytes,
                        max_fragment_bytes,
                    }));
                }
            }
        }
    }
    for key in KeyType::ALL {
        for chain_length in 1..=4 {
            all.extend(ROOTS.map(|roots| verify(*key, chain_length, roots)));
        }
    }
    for roots in ROOTS {
        all.extend([RootsForm::Pem, RootsForm::Der].map(|form| connector(form, Some(roots))));
    }
    all.push(connector(RootsForm::Native, None));
    for settings in common() {
        all.extend(SESSIONS.map(|sessions| memory(sessions, settings)));
    }
    for threads in thread_counts(cores) {
        for settings in common() {
            let kinds = HandshakeKind::ALL.iter();
            let works = kinds.map(|kind| ParallelWork::Handshake(*kind));
            for work in works.chain([ParallelWork::Bulk]) {
                all.push(parallel(threads, work, settings));
            }
        }
    }
    let counted: Vec<_> = all
        .iter()
        .filter(|scenario| matches!(scenario.work, Work::Handshake { .. } | Work::Bulk { .. }))
        .map(|scenario| Scenario::counted(scenario.work))
        .collect();
    all.extend(counted);
    all
}

/// What `part` does where no case is asked for by name.
pub fn usual_scenarios(part: Part, cores: u16) -> Vec<Scenario> {
    use Aead::{Aes128Gcm, Aes256Gcm};
    use KeyType::{EcdsaP256, Rsa2048};
    use TlsVersion::{Tls12, Tls13};
    let usual = SessionSettings::usual;
    let both = [Tls12, Tls13];
    match part {
        Part::Handshake => handshakes(),
        Part::Bulk => bulks(),
        Part::Verify => {
            let keys = KeyType::ALL.iter().map(|key| verify(*key, 2, 118));
            let lengths = [1, 3, 4].map(|length| verify(EcdsaP256, length, 118));
            let roots = [1, 10, 1_000].map(|roots| verify(EcdsaP256, 2, roots));
            keys.chain(lengths).chain(roots).collect()
        }
        Part::Connector => vec![
            connector(RootsForm::Pem, Some(10)),
            connector(RootsForm::Pem, Some(118)),
            connector(RootsForm::Der, Some(118)),
            connector(RootsForm::Pem, Some(159)),
            connector(RootsForm::Native, None),
        ],
        Part::Memory => both
            .iter()
            .flat_map(|version| SESSIONS.map(|n| memory(n, usual(*version, Rsa2048, Aes256Gcm))))
            .collect(),
        Part::Threads => thread_counts(cores)
            .into_iter()
            .flat_map(|threads| {
                let settings = usual(Tls13, EcdsaP256, Aes128Gcm);
                [
                    ParallelWork::Handshake(HandshakeKind::Full),
                    ParallelWork::Handshake(HandshakeKind::Ticket),
                    ParallelWork::Bulk,
                ]
                .map(|work| parallel(threads, work, settings))
            })
            .collect(),
        Part::Instructions => {
            let rsa = both.iter().flat_map(|version| {
                HandshakeKind::ALL
                    .iter()
                    .map(|kind| handshake(*kind, usual(*version, Rsa2048, Aes256Gcm)))
            });
            let ecdsa =
                both.map(|v| handshake(HandshakeKind::Full, usual(v, EcdsaP256, Aes128Gcm)));
            let bulk = [Aes128Gcm, Aes256Gcm].map(|aead| bulk(usual(Tls13, Rsa2048, aead)));
            rsa.chain(ecdsa)
                .chain(bulk)
                .map(|scenario| Scenario::counted(scenario.work))
                .collect()
        }
    }
}

impl Preset {
    /// Its scenarios, in the order of its table.
    pub fn scenarios(self) -> Vec<Scenario> {
        use Aead::{Aes128Gcm, Aes256Gcm, ChaCha20Poly1305};
        use KeyType::{EcdsaP256, EcdsaP384, Rsa2048, Rsa3072, Rsa4096};
        use TlsVersion::{Tls12, Tls13};
        let usual = SessionSettings::usual;
        match self {
            Self::RustlsVsOpenssl => {
                let bulk = [
                    usual(Tls12, Rsa2048, Aes128Gcm),
                    usual(Tls12, Rsa2048, Aes256Gcm),
                    usual(Tls12, Rsa2048, ChaCha20Poly1305),
                    usual(Tls13, Rsa2048, Aes256Gcm),
                ];
                let bulk = bulk.map(|settings| {
                    Scenario::timed(Work::Bulk {
                        settings,
                        write_bytes: 1 << 20,
                        amount_bytes: 1_000_000_000,
                        max_fragment_bytes: None,
                    })
                });
                let hybrid = SessionSettings {
                    group: Group::X25519MLKEM768,
                    ..usual(Tls13, Rsa2048, Aes256Gcm)
                };
                let handshakes = [
                    usual(Tls12, Rsa2048, Aes256Gcm),
                    usual(Tls13, Rsa2048, Aes256Gcm),
                    hybrid,
                ];
                let handshakes = handshakes.into_iter().flat_map(|settings| {
                    HandshakeKind::ALL
                        .iter()
                        .map(move |kind| handshake(*kind, settings))
                });
                bulk.into_iter().chain(handshakes).collect()
            }
            Self::MemoryTable => [Tls12, Tls13]
                .iter()
                .flat_map(|version| {
                    SESSIONS.map(|n| memory(n, usual(*version, Rsa2048, Aes256Gcm)))
                })
                .collect(),
            Self::S2n => {
                let keys = [EcdsaP256, EcdsaP384, Rsa2048, Rsa3072, Rsa4096];
                let with = |group, client_auth, key| SessionSettings {
                    group,
                    client_auth,
                    chain_length: 1,
                    ..usual(Tls13, key, Aes128Gcm)
                };
                let full = |settings| handshake(HandshakeKind::Full, settings);
                let mut all: Vec<Scenario> = keys
                    .map(|key| full(with(Group::X25519, ClientAuth::Off, key)))
                    .to_vec();
                all.extend(keys.map(|key| full(with(Group::X25519, ClientAuth::On, key))));
                all.push(full(with(Group::SECP256R1, ClientAuth::Off, EcdsaP384)));
                all.push(handshake(
                    HandshakeKind::Ticket,
                    with(Group::X25519, ClientAuth::Off, EcdsaP384),
                ));
                all.extend([Aes128Gcm, Aes256Gcm].map(|aead| {
                    Scenario::timed(Work::Bulk {
                        settings: usual(Tls13, EcdsaP256, aead),
                        write_bytes: 64 << 10,
                        amount_bytes: USUAL_AMOUNT,
                        max_fragment_bytes: None,
                    })
                }));
                all.push(memory(100, usual(Tls13, EcdsaP256, Aes128Gcm)));
                all
            }
            Self::Bertie => {
                let settings = |group| SessionSettings {
                    group,
                    chain_length: 1,
                    ..usual(Tls13, EcdsaP256, ChaCha20Poly1305)
                };
                let groups = [Group::X25519, Group::SECP256R1];
                let handshakes =
                    groups.map(|group| handshake(HandshakeKind::Full, settings(group)));
                let data = bulk(usual(Tls13, EcdsaP256, ChaCha20Poly1305));
                handshakes.into_iter().chain([data]).collect()
            }
        }
    }
}

fn handshakes() -> Vec<Scenario> {
    use Aead::{Aes128Gcm, Aes256Gcm};
    use HandshakeKind::Full;
    use KeyType::{EcdsaP256, Rsa2048};
    use TlsVersion::{Tls12, Tls13};
    let usual = SessionSettings::usual;
    let mut all: Vec<Scenario> = HandshakeKind::ALL
        .iter()
        .flat_map(|kind| {
            [Tls12, Tls13].map(|version| handshake(*kind, usual(version, Rsa2048, Aes256Gcm)))
        })
        .collect();
    let other_keys = KeyType::ALL.iter().filter(|key| **key != Rsa2048);
    all.extend(other_keys.map(|key| handshake(Full, usual(Tls13, *key, Aes128Gcm))));
    let ecdsa = usual(Tls13, EcdsaP256, Aes128Gcm);
    let other_groups = Group::OFFERED.iter().filter(|group| **group != ecdsa.group);
    all.extend(other_groups.map(|group| {
        handshake(
            Full,
            SessionSettings {
                group: *group,
                ..ecdsa
            },
        )
    }));
    all.extend([1, 4].map(|chain_length| {
        handshake(
            Full,
            SessionSettings {
                chain_length,
                ..ecdsa
            },
        )
    }));
    all.extend([usual(Tls13, Rsa2048, Aes256Gcm), ecdsa].map(|settings| {
        handshake(
            Full,
            SessionSettings {
                client_auth: ClientAuth::On,
                ..settings
            },
        )
    }));
    all
}

fn bulks() -> Vec<Scenario> {
    use KeyType::Rsa2048;
    let usual = SessionSettings::usual;
    let mut all: Vec<Scenario> = TlsVersion::OFFERED
        .iter()
        .flat_map(|version| {
            Aead::ALL
                .iter()
                .map(|aead| bulk(usual(*version, Rsa2048, *aead)))
        })
        .collect();
    let settings = usual(TlsVersion::Tls13, Rsa2048, Aead::Aes128Gcm);
    all.extend([1 << 10, 1 << 20].map(|write_bytes| {
        Scenario::timed(Work::Bulk {
            settings,
            write_bytes,
            amount_bytes: USUAL_AMOUNT,
            max_fragment_bytes: None,
        })
    }));
    all.push(Scenario::timed(Work::Bulk {
        settings,
        write_bytes: USUAL_WRITE,
        amount_bytes: USUAL_AMOUNT,
        max_fragment_bytes: Some(4096),
    }));
    all
}

/// The settings that data, memory and threads are measured with: every version and protection, with the
/// two key types that the web has most of.
fn common() -> impl Iterator<Item = SessionSettings> {
    TlsVersion::OFFERED.iter().flat_map(|version| {
        [KeyType::Rsa2048, KeyType::EcdsaP256]
            .into_iter()
            .flat_map(move |key| {
                Aead::ALL
                    .iter()
                    .map(move |aead| SessionSettings::usual(*version, key, *aead))
            })
    })
}

/// 1, 2, 4 … and all cores.
fn thread_counts(cores: u16) -> Vec<u16> {
    let cores = cores.max(1);
    let mut counts: Vec<u16> = (0..16)
        .map(|power| 1 << power)
        .take_while(|n| *n < cores)
        .collect();
    counts.push(cores);
    counts
}

fn handshake(kind: HandshakeKind, settings: SessionSettings) -> Scenario {
    Scenario::timed(Work::Handshake { kind, settings })
}

fn bulk(settings: SessionSettings) -> Scenario {
    Scenario::timed(Work::Bulk {
        settings,
        write_bytes: USUAL_WRITE,
        amount_bytes: USUAL_AMOUNT,
        max_fragment_bytes: None,
    })
}

fn verify(key: KeyType, chain_length: u8, roots: u32) -> Scenario {
    Scenario::timed(Work::Verify {
        key,
        chain_length,
        roots,
    })
}

fn connector(form: RootsForm, roots: Option<u32>) -> Scenario {
    Scenario::timed(Work::Connector { form, roots })
}

fn memory(sessions: u32, settings: SessionSettings) -> Scenario {
    Scenario::timed(Work::Memory { settings, sessions })
}

fn parallel(threads: u16, work: ParallelWork, settings: SessionSettings) -> Scenario {
    Scenario::timed(Work::Threads {
        threads,
        work,
        settings,
    })
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn names_are_one_for_each_and_those_that_are_published() {
        let all = catalogue(6);
        let names: HashSet<String> = all.iter().map(ToString::to_string).collect();
        assert_eq!(names.len(), all.len());
        for name in [
            "handshake-full_1.3_ECDHE_RSA_AES256-GCM_SHA384",
            "handshake-session-id_1.2_ECDHE_RSA_AES256-GCM_SHA384",
            "handshake-full_1.3_ECDHE_ECDSA_AES128-GCM_SHA256_x25519mlkem768",
            "handshake-full_1.3_ECDHE_ECDSA_AES256-GCM_SHA384_ecdsa-p384_secp384r1_chain-4_client-auth",
            "bulk_1.3_ECDHE_RSA_AES128-GCM_SHA256_write-1MiB",
            "bulk_1.2_ECDHE_RSA_AES128-GCM_SHA256_amount-1MB_fragment-4096",
            "verify_rsa-2048_chain-2_roots-118",
            "connector_native",
            "memory-10000_1.3_ECDHE_RSA_AES256-GCM_SHA384",
            "threads-6_handshake-ticket_1.3_ECDHE_ECDSA_AES128-GCM_SHA256",
            "instructions_handshake-full_1.3_ECDHE_RSA_AES256-GCM_SHA384",
        ] {
            assert!(names.contains(name), "{name}");
        }
    }

    #[test]
    fn what_is_done_by_default_is_in_the_catalogue() {
        let all: HashSet<Scenario> = catalogue(2).into_iter().collect();
        for part in Part::ALL {
            let usual = usual_scenarios(*part, 2);
            assert!(!usual.is_empty());
            for scenario in usual {
                assert!(all.contains(&scenario), "{scenario}");
                assert_eq!(scenario.part(), *part);
            }
        }
        for preset in Preset::ALL {
            for scenario in preset.scenarios() {
                assert!(all.contains(&scenario), "{scenario}");
            }
        }
        let rows: usize = Preset::RustlsVsOpenssl
            .scenarios()
            .iter()
            .map(|scenario| scenario.measures().len())
            .sum();
        assert_eq!(rows, 26);
        assert_eq!(thread_counts(1), [1]);
        assert_eq!(thread_counts(2), [1, 2]);
        assert_eq!(thread_counts(6), [1, 2, 4, 6]);
    }
}
