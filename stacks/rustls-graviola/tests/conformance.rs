//! Conformance tests of the worker of `rustls-graviola`.

use std::path::Path;

use netbench_tls::{KeyType, LabProfile, Scenario, TlsVersion};
use netbench_worker_test::{
    conformance_without, nginx, openssl_command, protocol, set_up, suite_without, verify,
};

netbench_worker_test::tests! {
    env!("CARGO_BIN_EXE_netbench-worker-rustls-graviola"), "rustls-graviola";
    connections;
    protocol;
    verify;
    set_up;
    openssl_command: OpensslCommand;
    nginx: Nginx;
    the_suite;
}

fn connections(worker: &Path, stack: &str) {
    conformance_without(worker, stack, is_ed25519_before_tls13);
}

fn the_suite(worker: &Path, stack: &str) {
    suite_without(worker, stack, uses_ed25519_before_tls13);
}

/// Returns whether a site requires Ed25519 in TLS 1.2, whose suites lack it.
fn is_ed25519_before_tls13(site: &LabProfile) -> bool {
    site.key == KeyType::Ed25519 && site.tls == [TlsVersion::Tls12]
}

fn uses_ed25519_before_tls13(scenario: &Scenario) -> bool {
    let settings = scenario.settings();
    settings.is_some_and(|s| s.key == KeyType::Ed25519 && s.version == TlsVersion::Tls12)
}
