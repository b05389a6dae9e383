//! Conformance tests of the worker of `openssl`.

use std::path::Path;

use netbench_tls::{Aead, HeapState, KeyType, Scenario, SessionSettings, Timing, TlsVersion, Work};
use netbench_worker_test::{
    conformance, nginx, openssl_command, plain::Harness, protocol, suite, verify,
};

const WORKER: &str = env!("CARGO_BIN_EXE_netbench-worker-openssl");

netbench_testing::tests! {
    it_serves_and_connects_to_itself;
    without_hyper_openssl_it_connects_as_with_it;
    it_keeps_to_the_protocol;
    it_verifies_chains;
    it_gets_on_with_the_openssl_command: OpensslCommand;
    it_gets_on_with_nginx: Nginx;
    it_does_the_suite;
    records_stay_in_memory_bios_while_they_are_timed;
}

fn it_serves_and_connects_to_itself() {
    conformance(Path::new(WORKER), "openssl");
}

fn without_hyper_openssl_it_connects_as_with_it() {
    conformance(Path::new(WORKER), "openssl+plain");
}

fn it_keeps_to_the_protocol() {
    for stack in ["openssl", "openssl+plain"] {
        protocol(Path::new(WORKER), stack);
    }
}

fn it_verifies_chains() {
    verify(Path::new(WORKER), "openssl");
}

fn it_gets_on_with_the_openssl_command() {
    openssl_command(Path::new(WORKER), "openssl");
}

fn it_gets_on_with_nginx() {
    nginx(Path::new(WORKER), "openssl");
}

fn it_does_the_suite() {
    for stack in ["openssl", "openssl+release-buffers", "openssl+memory-bio"] {
        suite(Path::new(WORKER), stack);
    }
}

/// A memory BIO that keeps its memory between writes has few page faults for each.
fn records_stay_in_memory_bios_while_they_are_timed() {
    const WRITE: u32 = 1 << 20;
    const PAGES: f64 = (WRITE / 4096) as f64;
    for version in TlsVersion::OFFERED {
        let scenario = Scenario::timed(Work::Bulk {
            settings: SessionSettings::usual(*version, KeyType::Rsa2048, Aead::Aes128Gcm),
            write_bytes: WRITE,
            amount_bytes: Work::USUAL_AMOUNT_BYTES,
            max_fragment_bytes: None,
            heap: HeapState::Settled,
        });
        let scenario = scenario.with_timing(Timing::Bench);
        let harness = Harness::on_one_core(Path::new(WORKER), "openssl+memory-bio", 0);
        let faults = harness.page_faults(&scenario, 80);
        assert!(faults <= PAGES / 8.0, "{version}: {faults}");
    }
}
