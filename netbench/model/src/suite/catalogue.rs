//! The catalogue of scenarios: every scenario that a user can select by name.

use crate::{
    Aead, HandshakeKind, HeapState, HeldAfter, KeyType, ParallelWork, Primitive, RootsForm,
    Scenario, SessionSettings, TlsVersion, Work, named::named,
};

/// Numbers of trust roots: only the chain's own, a few, Mozilla's current number, Servo's number in 2017, and far too
/// many.
const ROOTS: [u32; 5] = [1, 10, 118, 159, 1_000];

/// Numbers of sessions in the published table of memory (C10K).
const SESSIONS: [u32; 4] = [100, 1_000, 5_000, 10_000];

named!(
    /// A published benchmark whose configuration is reproduced, or a table of netbench.
    Preset, "preset", {
        /// rustls's own comparison with OpenSSL: its twenty rows, with x25519, and the handshakes of TLS 1.3 with
        /// X25519MLKEM768, which is the default group of both libraries today.
        RustlsVsOpenssl = "rustls-vs-openssl",
        /// rustls' report of March 2026: its sixteen rows, with BoringSSL.
        Rustls2026 = "rustls-2026",
        /// The comparison of memory up to ten thousand sessions.
        MemoryTable = "memory-table",
        /// The harness of s2n-tls: latency by key type, throughput, memory.
        S2n = "s2n",
        /// Bertie's benchmark: 100 MB in chunks of 16 KiB, a P-256 certificate, two groups.
        Bertie = "bertie",
        /// The main figures, with a row for each stack.
        AllStacks = "all-stacks",
        /// rustls with each provider, with another compiler and with each allocator.
        RustlsMatrix = "rustls-matrix",
        /// rustls with and without its limit of buffered data, with glibc's allocator and jemalloc, in a process that has
        /// worked for a while and in a new one.
        Allocators = "allocators",
        /// rustls' comparison of its providers: its twenty rows of ring and aws-lc.
        RustlsProviders = "rustls-providers",
        /// rustls with ring, with glibc's allocator and jemalloc: rustls' seven rows.
        RingAllocators = "ring-allocators",
        /// rustls with ring compiled by GCC and by Clang: rustls' twelve rows.
        RingCompilers = "ring-compilers",
        /// OpenSSL compiled by GCC and by Clang.
        OpensslCompilers = "openssl-compilers",
        /// The benefit of AVX-512 for RSA and AES: each library that heeds OPENSSL_ia32cap, with AVX-512 and without.
        Avx512 = "avx512",
        /// The main figures of all versions of one stack.
        History = "history",
    }
);

/// Returns every scenario that a user can select, with thread counts up to `cores`.
pub fn catalogue(cores: u16) -> Vec<Scenario> {
    let mut all = Vec::new();
    for kind in HandshakeKind::ALL {
        let kind = *kind;
        let works = SessionSettings::all().map(|settings| Work::Handshake { kind, settings });
        all.extend(works);
    }
    for settings in common().chain(common().map(alone)) {
        for write_bytes in [1, 4, 16, 64, 256, 1024].map(|kib: u32| kib << 10) {
            for amount_bytes in [
                1_000_000,
                10_000_000,
                Work::USUAL_AMOUNT_BYTES,
                1_000_000_000,
            ] {
                let variants = [
                    (None, HeapState::Settled),
                    (Some(512), HeapState::Settled),
                    (Some(1024), HeapState::Settled),
                    (Some(4096), HeapState::Settled),
                    (None, HeapState::Young),
                ];
                all.extend(variants.map(|(max_fragment_bytes, heap)| Work::Bulk {
                    settings,
                    write_bytes,
                    amount_bytes,
                    max_fragment_bytes,
                    heap,
                }));
            }
        }
    }
    for key in KeyType::ALL {
        for chain_length in 1..=4 {
            all.extend(ROOTS.map(|roots| Work::Verify {
                key: *key,
                chain_length,
                roots,
            }));
        }
    }
    for roots in ROOTS {
        let roots = Some(roots);
        all.extend([RootsForm::Pem, RootsForm::Der].map(|form| Work::Connector { form, roots }));
    }
    all.push(Work::Connector {
        form: RootsForm::Native,
        roots: None,
    });
    all.extend(Primitive::all().map(|primitive| Work::Crypto { primitive }));
    for settings in common().chain(common().map(alone)) {
        let states = HeldAfter::ALL.iter().filter(|after| match after {
            HeldAfter::Tickets => after.has_tickets(settings.version),
            HeldAfter::Handshake | HeldAfter::Data | HeldAfter::Idle => true,
        });
        for after in states.copied() {
            all.extend(SESSIONS.map(|sessions| Work::Memory {
                settings,
                sessions,
                after,
            }));
        }
    }
    for threads in thread_counts(cores) {
        for key in KeyType::ALL {
            all.push(Work::ParallelVerify {
                threads,
                key: *key,
                chain_length: 2,
                roots: 118,
            });
        }
        for settings in common() {
            let kinds = HandshakeKind::ALL.iter();
            let works = kinds.map(|kind| ParallelWork::Handshake(*kind));
            for work in works.chain([ParallelWork::Bulk]) {
                all.push(Work::Threads {
                    threads,
                    work,
                    settings,
                });
            }
        }
    }
    let works = all.iter().copied();
    let timed = works.clone().map(Scenario::timed);
    let counted = works.filter(|work| matches!(work, Work::Handshake { .. } | Work::Bulk { .. }));
    timed.chain(counted.map(Scenario::counted)).collect()
}

/// Returns the settings of the scenarios of data, memory and threads: every version and protection, with the two most
/// common key types of the web.
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

/// Returns the same settings with the leaf only, for servers that send no other certificate.
fn alone(settings: SessionSettings) -> SessionSettings {
    SessionSettings {
        chain_length: 1,
        ..settings
    }
}

/// Returns the thread counts: 1, 2, 4 … and all cores.
fn thread_counts(cores: u16) -> Vec<u16> {
    let cores = cores.max(1);
    let mut counts: Vec<u16> = (0..16)
        .map(|power| 1 << power)
        .take_while(|n| *n < cores)
        .collect();
    counts.push(cores);
    counts
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
            "bulk_1.3_ECDHE_ECDSA_CHACHA20-POLY1305_SHA256_chain-1",
            "handshake-full_1.3_ECDHE_MLDSA_AES128-GCM_SHA256_mldsa-44",
            "verify_rsa-2048_chain-2_roots-118",
            "verify_mldsa-65_chain-2_roots-118",
            "crypto_mldsa-87_sign",
            "connector_native",
            "memory-10000_1.3_ECDHE_RSA_AES256-GCM_SHA384",
            "memory-1000_1.3_ECDHE_RSA_AES256-GCM_SHA384_after-tickets",
            "memory-1000_1.2_ECDHE_RSA_AES256-GCM_SHA384_after-data",
            "memory-1000_1.3_ECDHE_RSA_AES256-GCM_SHA384_after-idle",
            "threads-6_handshake-ticket_1.3_ECDHE_ECDSA_AES128-GCM_SHA256",
            "threads-4_verify_ecdsa-p256_chain-2_roots-118",
            "instructions_handshake-full_1.3_ECDHE_RSA_AES256-GCM_SHA384",
        ] {
            assert!(names.contains(name), "{name}");
        }
        let mut of_mldsa = names.iter().filter(|name| name.contains("MLDSA"));
        assert_eq!(of_mldsa.find(|name| name.contains("_1.2_")), None);
    }

    #[test]
    fn threads_are_doubled_up_to_all_cores() {
        assert_eq!(thread_counts(1), [1]);
        assert_eq!(thread_counts(2), [1, 2]);
        assert_eq!(thread_counts(6), [1, 2, 4, 6]);
    }
}
