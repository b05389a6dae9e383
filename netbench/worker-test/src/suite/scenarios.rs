use netbench_model::{
    Aead, ClientAuth, Group, HandshakeKind, HeapState, KeyType, ParallelWork, Primitive, RootsForm,
    Scenario, SessionSettings, Timing, TlsVersion, Work,
};

/// Number of threads of a parallel scenario.
const THREADS: u16 = 2;

/// Returns every scenario that a worker must support.
pub(super) fn all() -> Vec<Scenario> {
    let works = handshakes()
        .chain(chains())
        .chain(bulks())
        .chain(threads())
        .chain(alone());
    works.map(Scenario::timed).chain(bench_timing()).collect()
}

/// Returns handshakes and data of which a part is timed.
fn bench_timing() -> impl Iterator<Item = Scenario> {
    TlsVersion::OFFERED.iter().flat_map(|version| {
        let settings = usual(*version, KeyType::EcdsaP256);
        let kinds = HandshakeKind::ALL.iter();
        let handshakes = kinds.map(move |kind| Work::Handshake {
            kind: *kind,
            settings,
        });
        let bulk = Work::Bulk {
            settings,
            write_bytes: 1 << 20,
            amount_bytes: 3 << 20,
            max_fragment_bytes: None,
            heap: HeapState::Settled,
        };
        let works = handshakes.chain([bulk]);
        works.map(|work| Scenario::timed(work).with_timing(Timing::Bench))
    })
}

/// Returns the default settings of a name.
pub(super) fn usual(version: TlsVersion, key: KeyType) -> SessionSettings {
    SessionSettings::usual(version, key, Aead::Aes128Gcm)
}

/// Returns every combination of kind, version, key, group and client authentication. Long RSA keys are slow in a debug
/// build, and only differ from the short key in length, so they have one group.
fn handshakes() -> impl Iterator<Item = Work> {
    let settings = versions_and_keys().flat_map(|usual| {
        let slow = matches!(usual.key, KeyType::Rsa3072 | KeyType::Rsa4096);
        let groups = Group::OFFERED.iter().map(move |group| SessionSettings {
            group: *group,
            ..usual
        });
        groups.filter(move |wanted| wanted.is_defined() && (!slow || wanted.group == usual.group))
    });
    let settings = settings.flat_map(|usual| {
        ClientAuth::ALL.iter().map(move |auth| SessionSettings {
            client_auth: *auth,
            ..usual
        })
    });
    settings.flat_map(|settings| {
        let kinds = HandshakeKind::ALL.iter();
        kinds.map(move |kind| Work::Handshake {
            kind: *kind,
            settings,
        })
    })
}

fn versions_and_keys() -> impl Iterator<Item = SessionSettings> {
    let versions = TlsVersion::OFFERED.iter();
    versions.flat_map(|version| KeyType::ALL.iter().map(|key| usual(*version, *key)))
}

/// Returns chains of every length, with and without client authentication, except the default of two certificates.
fn chains() -> impl Iterator<Item = Work> {
    let versions = TlsVersion::OFFERED.iter();
    let usual = versions.map(|version| usual(*version, KeyType::EcdsaP256));
    let lengths = usual.flat_map(|usual| {
        [1, 3, 4].map(|chain_length| SessionSettings {
            chain_length,
            ..usual
        })
    });
    lengths.flat_map(|settings| {
        ClientAuth::ALL.iter().map(move |auth| Work::Handshake {
            kind: HandshakeKind::Full,
            settings: SessionSettings {
                client_auth: *auth,
                ..settings
            },
        })
    })
}

/// Returns every suite with every size of writes and records.
fn bulks() -> impl Iterator<Item = Work> {
    let settings = TlsVersion::OFFERED.iter().flat_map(|version| {
        let keys = match version {
            // The suites of TLS 1.2 depend on the key.
            TlsVersion::Tls13 => &[KeyType::EcdsaP256][..],
            _ => &[KeyType::EcdsaP256, KeyType::Rsa2048][..],
        };
        keys.iter().flat_map(|key| {
            let aeads = Aead::ALL.iter();
            aeads.map(|aead| SessionSettings::usual(*version, *key, *aead))
        })
    });
    settings.flat_map(|settings| {
        let sizes = [1 << 10, 16 << 10, 1 << 20].into_iter();
        sizes.flat_map(move |write_bytes| {
            let conditions = [
                (None, HeapState::Settled),
                (None, HeapState::Young),
                (Some(512), HeapState::Settled),
                (Some(4096), HeapState::Settled),
            ];
            conditions.map(|(max_fragment_bytes, heap)| Work::Bulk {
                settings,
                write_bytes,
                // More than one burst of small writes and less than two: the third burst needs a new session.
                amount_bytes: 100_000,
                max_fragment_bytes,
                heap,
            })
        })
    })
}

fn threads() -> impl Iterator<Item = Work> {
    let kinds = HandshakeKind::ALL.iter();
    let works = kinds.map(|kind| ParallelWork::Handshake(*kind));
    let works = works.chain([ParallelWork::Bulk]).flat_map(|work| {
        TlsVersion::OFFERED
            .iter()
            .map(move |version| Work::Threads {
                threads: THREADS,
                work,
                settings: usual(*version, KeyType::EcdsaP256),
            })
    });
    works.chain([Work::ParallelVerify {
        threads: THREADS,
        key: KeyType::EcdsaP256,
        chain_length: 2,
        roots: 10,
    }])
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
