//! Conformance tests of the worker of `s2n-tls-openssl`, except for features that s2n-tls lacks or does not report.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

#[path = "../../s2n-tls/tests/limits/mod.rs"]
mod limits;

use std::{fs, path::Path};

use netbench_worker_test::{conformance_but, nginx, openssl_command, protocol, suite_without};

netbench_worker_test::tests! {
    env!("CARGO_BIN_EXE_netbench-worker-s2n-tls-openssl"), "s2n-tls-openssl";
    has_no_function_of_aws_lc;
    connections;
    protocol;
    openssl_command: OpensslCommand;
    nginx: Nginx;
    the_suite;
}

/// Checks the names in the executable's table of symbols.
fn has_no_function_of_aws_lc(worker: &Path, _: &str) {
    let program = fs::read(worker).unwrap();
    assert!(contains(&program, b"EVP_DigestSign"));
    // The crate aws-lc-sys begins the name of each function with its own version.
    assert!(!contains(&program, b"aws_lc_0_"));
}

fn contains(program: &[u8], text: &[u8]) -> bool {
    program.windows(text.len()).any(|part| part == text)
}

fn connections(worker: &Path, stack: &str) {
    conformance_but(worker, stack, &limits::exceptions());
}

fn the_suite(worker: &Path, stack: &str) {
    suite_without(worker, stack, limits::lacks);
}
