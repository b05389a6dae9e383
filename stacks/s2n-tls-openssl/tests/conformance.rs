//! Conformance tests of the worker of `s2n-tls-openssl`, except for features that s2n-tls lacks or does not report.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

#[path = "../../s2n-tls/tests/limits/mod.rs"]
mod limits;

use std::{fs, path::Path};

use netbench_worker_test::{conformance_but, nginx, openssl_command, protocol, suite_without};

const WORKER: &str = env!("CARGO_BIN_EXE_netbench-worker-s2n-tls-openssl");

const STACK: &str = "s2n-tls-openssl";

netbench_testing::tests! {
    it_has_no_function_of_aws_lc;
    it_serves_and_connects_to_itself;
    it_keeps_to_the_protocol;
    it_gets_on_with_the_openssl_command: OpensslCommand;
    it_gets_on_with_nginx: Nginx;
    it_does_the_suite;
}

/// Checks the names in the executable's table of symbols.
fn it_has_no_function_of_aws_lc() {
    let program = fs::read(WORKER).unwrap();
    assert!(contains(&program, b"EVP_DigestSign"));
    // The crate aws-lc-sys begins the name of each function with its own version.
    assert!(!contains(&program, b"aws_lc_0_"));
}

fn contains(program: &[u8], text: &[u8]) -> bool {
    program.windows(text.len()).any(|part| part == text)
}

fn it_serves_and_connects_to_itself() {
    conformance_but(Path::new(WORKER), STACK, &limits::exceptions());
}

fn it_keeps_to_the_protocol() {
    protocol(Path::new(WORKER), STACK);
}

fn it_gets_on_with_the_openssl_command() {
    openssl_command(Path::new(WORKER), STACK);
}

fn it_gets_on_with_nginx() {
    nginx(Path::new(WORKER), STACK);
}

fn it_does_the_suite() {
    suite_without(Path::new(WORKER), STACK, limits::lacks);
}
