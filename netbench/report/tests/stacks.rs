//! The list of stacks in every format.

use std::collections::BTreeMap;

use netbench_model::{
    CipherSuite, Group, SignatureScheme, TlsVersion, WorkerRecord,
    scan::{NamedCode, Offer, ShareOffer},
};
use netbench_protocol::{Operation, StackDescription};
use netbench_report::{BuildTime, LicenceRow, StackRow, StacksReport, WorkerState};

use crate::support::formats::{render, terminal};

/// Returns a stack that is built, one that is not, and one that does not work and whose message has control
/// sequences for a terminal.
fn stacks() -> StacksReport {
    let built = StackRow {
        worker: Some("/somewhere/netbench-worker-one".to_owned()),
        place: Some("in the cache".to_owned()),
        licences: vec![LicenceRow {
            library: "one-sys".to_owned(),
            spdx: "MIT OR Apache-2.0".to_owned(),
        }],
        build: Some(BuildTime {
            wall_ms: 48_100,
            cpu_ms: 91_000,
        }),
        description: Some(StackDescription {
            record: WorkerRecord {
                executable: "netbench-worker-one".to_owned(),
                stack: "one".to_owned(),
                library: "one 1.2.3".to_owned(),
                provider: Some("one-crypto 4.5".to_owned()),
                connector: "hyper-one 0.1".to_owned(),
                build: BTreeMap::new(),
            },
            operations: [Operation::Connect, Operation::Suite].into(),
            trust_sources: Vec::new(),
            groups: vec![Group::X25519],
            suites: vec![CipherSuite::TLS_AES_128_GCM_SHA256],
            signatures: vec![SignatureScheme::OFFERED[0]],
        }),
        hello: Some(hello()),
        ..row("one", WorkerState::Built)
    };
    let missing = StackRow {
        problem: Some("not built; netbench stacks build two builds it".to_owned()),
        ..row("two", WorkerState::NotBuilt)
    };
    let broken = StackRow {
        worker: Some("/somewhere/netbench-worker-three".to_owned()),
        place: Some("in the source tree".to_owned()),
        problem: Some("does not work: the worker exited with 3; it said: \x1b[31m".to_owned()),
        ..row("three", WorkerState::Broken)
    };
    StacksReport::new(vec![built, missing, broken], None)
}

fn row(stack: &str, state: WorkerState) -> StackRow {
    StackRow {
        stack: stack.to_owned(),
        about: format!("{stack}, with hyper"),
        state,
        worker: None,
        place: None,
        licences: Vec::new(),
        build: None,
        description: None,
        hello: None,
        problem: None,
    }
}

fn hello() -> Offer {
    let codes = [
        ("TLS_AES_128_GCM_SHA256", 0x1301),
        ("x25519", 29),
        ("secp256r1", 23),
    ];
    let [suite, x25519, secp256r1] = codes.map(|(name, code)| NamedCode {
        name: name.to_owned(),
        code,
    });
    Offer {
        stack: "one".to_owned(),
        wire_bytes: 300,
        message_bytes: 290,
        versions: vec![TlsVersion::Tls13, TlsVersion::Tls12],
        suites: vec![suite],
        groups: vec![x25519, secp256r1],
        shares: vec![ShareOffer {
            group: "x25519".to_owned(),
            bytes: 32,
        }],
        signatures: Vec::new(),
        certificate_signatures: None,
        certificate_compression: Some(vec![NamedCode {
            name: "brotli".to_owned(),
            code: 2,
        }]),
        alpn: vec!["h2".to_owned()],
        extensions: Vec::new(),
        has_certificate: false,
        has_nagle: false,
        ja3: String::new(),
        ja3_text: String::new(),
        ja4: String::new(),
    }
}

#[test]
fn every_form_has_every_stack() {
    insta::assert_snapshot!("stacks_terminal", terminal(&stacks(), 80));
    insta::assert_snapshot!("stacks_csv", render(&stacks(), "csv"));
}
