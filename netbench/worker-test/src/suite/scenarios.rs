use netbench_model::{
    Aead, ClientAuth, Group, HandshakeKind, HeapState, KeyType, ParallelWork, Primitive, RootsForm,
    Scenario, SessionSettings, Timing, TlsVersion, Work,
};

/// Number of threads of a parallel scenario.
const THREADS: u16 = 2;

/// Returns every scenario that a worker must support.
pub(super) fn all() -> Vec<Scenario> {
    let mut works = Vec::new();
    add_handshakes(&mut works);
    add_chains(&mut works);
    add_bulks(&mut works);
    add_threads(&mut works);
    let works = works.into_iter().chain(alone());
    works.map(Scenario::timed).chain(bench_timing()).collect()
}

/// Returns handshakes and data of which a part is timed.
fn bench_timing() -> Vec<Scenario> {
    let mut works = Vec::new();
    for settings in each_version() {
        let kinds = HandshakeKind::ALL.iter().copied();
        works.extend(kinds.map(|kind| Work::Handshake { kind, settings }));
        works.push(Work::Bulk {
            settings,
            write_bytes: 1 << 20,
            amount_bytes: 3 << 20,
            max_fragment_bytes: None,
            heap: HeapState::Settled,
        });
    }
    let works = works.into_iter();
    works
        .map(|work| Scenario::timed(work).with_timing(Timing::Bench))
        .collect()
}

/// Returns the default settings of a name.
pub(super) fn usual(version: TlsVersion, key: KeyType) -> SessionSettings {
    SessionSettings::usual(version, key, Aead::Aes128Gcm)
}

fn each_version() -> impl Iterator<Item = SessionSettings> {
    let versions = TlsVersion::OFFERED.iter();
    versions.map(|version| usual(*version, KeyType::EcdsaP256))
}

/// Adds every combination of kind, version, key, group and client authentication. Long RSA keys are slow in a debug
/// build, and only differ from the short key in length, so they have one group.
fn add_handshakes(works: &mut Vec<Work>) {
    let versions = TlsVersion::OFFERED.iter();
    let keys = versions.flat_map(|version| KeyType::ALL.iter().map(|key| usual(*version, *key)));
    for usual in keys {
        let is_slow = matches!(usual.key, KeyType::Rsa3072 | KeyType::Rsa4096);
        for group in Group::OFFERED.iter().copied() {
            let settings = SessionSettings { group, ..usual };
            if !settings.is_defined() || (is_slow && group != usual.group) {
                continue;
            }
            for client_auth in ClientAuth::ALL.iter().copied() {
                let settings = SessionSettings {
                    client_auth,
                    ..settings
                };
                let kinds = HandshakeKind::ALL.iter().copied();
                works.extend(kinds.map(|kind| Work::Handshake { kind, settings }));
            }
        }
    }
}

/// Adds chains of every length, with and without client authentication, except the default of two certificates.
fn add_chains(works: &mut Vec<Work>) {
    for usual in each_version() {
        for chain_length in [1, 3, 4] {
            let auths = ClientAuth::ALL.iter().copied();
            works.extend(auths.map(|client_auth| Work::Handshake {
                kind: HandshakeKind::Full,
                settings: SessionSettings {
                    chain_length,
                    client_auth,
                    ..usual
                },
            }));
        }
    }
}

/// Adds every suite with every size of writes and records.
fn add_bulks(works: &mut Vec<Work>) {
    for usual in each_version() {
        // The suites of TLS 1.2 depend on the key.
        let keys = match usual.version {
            TlsVersion::Tls13 => &[KeyType::EcdsaP256][..],
            _ => &[KeyType::EcdsaP256, KeyType::Rsa2048][..],
        };
        let aeads = keys.iter().flat_map(|key| {
            let aeads = Aead::ALL.iter();
            aeads.map(|aead| SessionSettings::usual(usual.version, *key, *aead))
        });
        for settings in aeads {
            for write_bytes in [1 << 10, 16 << 10, 1 << 20] {
                for (max_fragment_bytes, heap) in [
                    (None, HeapState::Settled),
                    (None, HeapState::Young),
                    (Some(512), HeapState::Settled),
                    (Some(4096), HeapState::Settled),
                ] {
                    works.push(Work::Bulk {
                        settings,
                        write_bytes,
                        // More than one burst of small writes and less than two: the third burst needs a new session.
                        amount_bytes: 100_000,
                        max_fragment_bytes,
                        heap,
                    });
                }
            }
        }
    }
}

fn add_threads(works: &mut Vec<Work>) {
    let kinds = HandshakeKind::ALL.iter().copied();
    for work in kinds
        .map(ParallelWork::Handshake)
        .chain([ParallelWork::Bulk])
    {
        works.extend(each_version().map(|settings| Work::Threads {
            threads: THREADS,
            work,
            settings,
        }));
    }
    works.push(Work::ParallelVerify {
        threads: THREADS,
        key: KeyType::EcdsaP256,
        chain_length: 2,
        roots: 10,
    });
}

/// Returns the scenarios without sessions.
fn alone() -> impl Iterator<Item = Work> {
    let verifications = KeyType::ALL.iter().flat_map(|key| {
        (1..=4).map(|chain_length| Work::Verify {
            key: *key,
            chain_length,
            roots: 10,
        })
    });
    let roots = [RootsForm::Pem, RootsForm::Der].map(|form| Work::Connector {
        form,
        roots: Some(10),
    });
    let native = Work::Connector {
        form: RootsForm::Native,
        roots: None,
    };
    let primitives = Primitive::all().map(|primitive| Work::Crypto { primitive });
    verifications.chain(roots).chain([native]).chain(primitives)
}
