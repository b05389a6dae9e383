//! Tables that others have published, beside which a preset's own stands. Word for word, as published;
//! they were taken on other machines with other versions, and are no part of any verdict.

use netbench_model::Preset;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A table as it was published.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PublishedTable {
    /// Who published it, when and where.
    pub source: String,
    /// The machine and how it was measured.
    pub about: String,
    /// What is known to be wrong with it.
    pub faults: Vec<String>,
    /// What its two columns are of.
    pub columns: [String; 2],
    /// What the figures count.
    pub unit: String,
    /// Its rows.
    pub rows: Vec<PublishedRow>,
}

/// A row of a published table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PublishedRow {
    /// The case of netbench that it is of.
    pub case: String,
    /// Its two figures.
    pub figures: [f64; 2],
    /// Its last column: a factor, or a change.
    pub comparison: String,
    /// Whether a fault touches it.
    pub doubtful: bool,
}

/// The table that `preset` reproduces, where there is one that can be quoted.
pub(super) fn published(preset: &str) -> Option<PublishedTable> {
    match preset.parse().ok()? {
        Preset::RustlsVsOpenssl => Some(rustls_vs_openssl()),
        Preset::MemoryTable => Some(memory()),
        Preset::Bertie => Some(bertie()),
        // Its harness has no published figures of other libraries.
        Preset::S2n => None,
    }
}

const BULK: &str = "_write-1MiB_amount-1000MB";

fn rustls_vs_openssl() -> PublishedTable {
    let bulk = [
        (
            "bulk_1.2_ECDHE_RSA_AES128-GCM_SHA256",
            "sent",
            6503.58,
            6712.29,
            "1.03x",
        ),
        (
            "bulk_1.2_ECDHE_RSA_AES128-GCM_SHA256",
            "received",
            7234.11,
            6017.82,
            "0.83x",
        ),
        (
            "bulk_1.2_ECDHE_RSA_AES256-GCM_SHA384",
            "sent",
            6162.57,
            6193.18,
            "1.00x",
        ),
        (
            "bulk_1.2_ECDHE_RSA_AES256-GCM_SHA384",
            "received",
            6609.27,
            5669.77,
            "0.86x",
        ),
        (
            "bulk_1.2_ECDHE_RSA_CHACHA20-POLY1305_SHA256",
            "sent",
            2998.06,
            1750.11,
            "0.58x",
        ),
        (
            "bulk_1.2_ECDHE_RSA_CHACHA20-POLY1305_SHA256",
            "received",
            3107.17,
            1731.27,
            "0.56x",
        ),
        (
            "bulk_1.3_ECDHE_RSA_AES256-GCM_SHA384",
            "sent",
            6041.82,
            6256.94,
            "1.04x",
        ),
        (
            "bulk_1.3_ECDHE_RSA_AES256-GCM_SHA384",
            "received",
            6406.44,
            5945.02,
            "0.93x",
        ),
    ];
    let handshakes = [
        ("full_1.2", "client", 2581.16, 4991.73, "1.93x"),
        ("full_1.2", "server", 2120.95, 1485.95, "0.70x"),
        ("session-id_1.2", "client", 21514.4, 49893.99, "2.32x"),
        ("session-id_1.2", "server", 23183.8, 41846.34, "1.80x"),
        ("ticket_1.2", "client", 21491.3, 47419.84, "2.21x"),
        ("ticket_1.2", "server", 20190.1, 36518.87, "1.81x"),
        ("full_1.3", "client", 2273.57, 4683.46, "2.06x"),
        ("full_1.3", "server", 1874.1, 1362.79, "0.73x"),
        ("session-id_1.3", "client", 3415.35, 11272.98, "3.30x"),
        ("session-id_1.3", "server", 3060.17, 7434.41, "2.43x"),
        ("ticket_1.3", "client", 5182.51, 11244.79, "2.17x"),
        ("ticket_1.3", "server", 4718.39, 7347.91, "1.56x"),
    ];
    let row = |case: String, figures, comparison: &str| PublishedRow {
        doubtful: case.contains("session-id_1.3"),
        case,
        figures,
        comparison: comparison.to_owned(),
    };
    let bulk =
        bulk.map(|(name, side, a, b, factor)| row(format!("{name}{BULK}_{side}"), [a, b], factor));
    let handshakes = handshakes.map(|(name, side, a, b, factor)| {
        let case = format!("handshake-{name}_ECDHE_RSA_AES256-GCM_SHA384_{side}");
        row(case, [a, b], factor)
    });
    PublishedTable {
        source: "rustls-bench-results (github.com/aochagavia/rustls-bench-results), December 2023"
            .to_owned(),
        about: "Xeon E-2386G with AVX-512, Debian 12, hyper-threading and frequency scaling off; \
                rustls with aws-lc and jemalloc; medians of the means of 30 processes"
            .to_owned(),
        faults: vec![
            "In the OpenSSL runs of TLS 1.3 session-id, 37.5 % of the handshakes did not resume \
             (20,479 hits, 12,289 misses in their own logs): these two factors are too high."
                .to_owned(),
            "rustls' program of that time seems to have made the client, ClientHello and key share \
             included, before its clock started; OpenSSL's had that in the client's time."
                .to_owned(),
        ],
        columns: ["OpenSSL 3.2.0".to_owned(), "rustls 0.22.0".to_owned()],
        unit: "MiB/s and handshakes/s".to_owned(),
        rows: bulk.into_iter().chain(handshakes).collect(),
    }
}

fn memory() -> PublishedTable {
    let rows = [
        ("1.2", 100, 15860.0, 11540.0, "-27%"),
        ("1.2", 1000, 83300.0, 21044.0, "-75%"),
        ("1.2", 5000, 382_476.0, 57124.0, "-85%"),
        ("1.2", 10000, 756_380.0, 104_932.0, "-86%"),
        ("1.3", 100, 15544.0, 11536.0, "-26%"),
        ("1.3", 1000, 76712.0, 21792.0, "-72%"),
        ("1.3", 5000, 348_640.0, 70728.0, "-80%"),
        ("1.3", 10000, 688_436.0, 131_816.0, "-81%"),
    ];
    PublishedTable {
        source: "rustls-bench-results (github.com/aochagavia/rustls-bench-results), December 2023"
            .to_owned(),
        about: "Xeon E-2386G, Debian 12; rustls with aws-lc; peak resident KiB of one process, run once".to_owned(),
        faults: vec![
            "jemalloc for rustls and glibc's allocator for OpenSSL: not the same settings."
                .to_owned(),
        ],
        columns: [
            "OpenSSL 3.2.0".to_owned(),
            "rustls 0.22.0".to_owned(),
        ],
        unit: "KiB".to_owned(),
        rows: rows
            .map(|(version, n, a, b, change)| PublishedRow {
                case: format!("memory-{n}_{version}_ECDHE_RSA_AES256-GCM_SHA384_peak"),
                figures: [a, b],
                comparison: change.to_owned(),
                doubtful: false,
            })
            .to_vec(),
    }
}

fn bertie() -> PublishedTable {
    const SUITE: &str = "ECDHE_ECDSA_CHACHA20-POLY1305_SHA256";
    let rows = [
        (
            format!("handshake-full_1.3_{SUITE}_chain-1_client"),
            4208.0,
            5178.0,
            false,
        ),
        (
            format!("handshake-full_1.3_{SUITE}_chain-1_server"),
            5996.0,
            9474.0,
            false,
        ),
        (
            format!("handshake-full_1.3_{SUITE}_secp256r1_chain-1_client"),
            3057.0,
            5051.0,
            true,
        ),
        (
            format!("handshake-full_1.3_{SUITE}_secp256r1_chain-1_server"),
            3916.0,
            10946.0,
            true,
        ),
        (format!("bulk_1.3_{SUITE}_sent"), 1789.0, 2253.0, true),
        (format!("bulk_1.3_{SUITE}_received"), 1770.0, 2168.0, true),
    ];
    PublishedTable {
        source: "Bertie's Benchmarks.md (github.com/cryspen/bertie)".to_owned(),
        about: "Dell XPS 13 with AVX2; Bertie and rustls, each by its own program".to_owned(),
        faults: vec![
            "rustls' program could not choose the group, so that its P-256 rows are of x25519."
                .to_owned(),
            "Bertie's figures for sending and receiving are interchanged on this machine."
                .to_owned(),
            "Its data is one chunk of 16 KiB for each connection, ours 100 MB.".to_owned(),
        ],
        columns: ["Bertie".to_owned(), "rustls".to_owned()],
        unit: "handshakes/s and MB/s".to_owned(),
        rows: rows
            .map(|(case, a, b, doubtful)| PublishedRow {
                case,
                figures: [a, b],
                comparison: format!("{:.2}x", b / a),
                doubtful,
            })
            .to_vec(),
    }
}
