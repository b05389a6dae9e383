//! The worker of `rustls-ring` and `rustls-aws-lc` as every worker must be.

use std::path::Path;

use netbench_worker_test::{conformance, foreign_peers};

const WORKER: &str = env!("CARGO_BIN_EXE_netbench-worker-rustls");

#[test]
fn ring_serves_and_connects_to_itself() {
    conformance(Path::new(WORKER), "rustls-ring");
}

#[test]
fn aws_lc_serves_and_connects_to_itself() {
    conformance(Path::new(WORKER), "rustls-aws-lc");
}

#[test]
fn they_get_on_with_the_openssl_command() {
    for stack in ["rustls-ring", "rustls-aws-lc"] {
        if let Err(reason) = foreign_peers(Path::new(WORKER), stack) {
            println!("unsupported: {reason}");
        }
    }
}
