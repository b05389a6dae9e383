//! Conformance tests of the worker of `bertie`, except for features that Bertie lacks.

use std::path::Path;

use netbench_tls::{ClientAuth, HandshakeKind, ParallelWork, TlsVersion, Work};
use netbench_worker_test::{protocol, suite_without};

netbench_worker_test::tests! {
    env!("CARGO_BIN_EXE_netbench-worker-bertie"), "bertie";
    protocol;
    the_suite;
}

fn the_suite(worker: &Path, stack: &str) {
    suite_without(worker, stack, |scenario| {
        let settings = scenario.settings();
        // Its server sends one certificate, sends no tickets and requests no client certificate; and it only
        // supports TLS 1.3.
        let lacks = settings.is_none_or(|settings| {
            settings.version != TlsVersion::Tls13
                || settings.chain_length != 1
                || settings.client_auth == ClientAuth::On
        });
        lacks
            || match scenario.work {
                Work::Handshake { kind, .. }
                | Work::Threads {
                    work: ParallelWork::Handshake(kind),
                    ..
                } => kind != HandshakeKind::Full,
                _ => false,
            }
    });
}
