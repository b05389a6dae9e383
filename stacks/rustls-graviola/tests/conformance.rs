//! Conformance tests of the worker of `rustls-graviola`.

use std::path::Path;

use netbench_tls::{KeyType, LabProfile, Scenario, TlsVersion};
use netbench_worker_test::{
    conformance_without, nginx, openssl_command, protocol, set_up, suite_without, verify,
};

const WORKER: &str = env!("CARGO_BIN_EXE_netbench-worker-rustls-graviola");

const STACK: &str = "rustls-graviola";

netbench_testing::tests! {
    it_serves_and_connects_to_itself;
    it_keeps_to_the_protocol;
    it_verifies_chains;
    it_takes_the_steps_of_its_set_up;
    it_gets_on_with_the_openssl_command: OpensslCommand;
    it_gets_on_with_nginx: Nginx;
    it_does_the_suite;
}

fn it_serves_and_connects_to_itself() {
    conformance_without(Path::new(WORKER), STACK, is_ed25519_before_tls13);
}

fn it_keeps_to_the_protocol() {
    protocol(Path::new(WORKER), STACK);
}

fn it_verifies_chains() {
    verify(Path::new(WORKER), STACK);
}

fn it_takes_the_steps_of_its_set_up() {
    set_up(Path::new(WORKER), STACK);
}

fn it_gets_on_with_the_openssl_command() {
    openssl_command(Path::new(WORKER), STACK);
}

fn it_gets_on_with_nginx() {
    nginx(Path::new(WORKER), STACK);
}

fn it_does_the_suite() {
    suite_without(Path::new(WORKER), STACK, uses_ed25519_before_tls13);
}

/// Returns whether a site requires Ed25519 in TLS 1.2, whose suites lack it.
fn is_ed25519_before_tls13(site: &LabProfile) -> bool {
    site.key == KeyType::Ed25519 && site.tls == [TlsVersion::Tls12]
}

fn uses_ed25519_before_tls13(scenario: &Scenario) -> bool {
    let settings = scenario.settings();
    settings.is_some_and(|s| s.key == KeyType::Ed25519 && s.version == TlsVersion::Tls12)
}
