//! The worker of `openssl` as every worker must be.

use std::path::Path;

use netbench_worker_test::{conformance, foreign_peers};

const WORKER: &str = env!("CARGO_BIN_EXE_netbench-worker-openssl");

#[test]
fn it_serves_and_connects_to_itself() {
    conformance(Path::new(WORKER), "openssl");
}

#[test]
fn it_gets_on_with_the_openssl_command() {
    if let Err(reason) = foreign_peers(Path::new(WORKER), "openssl") {
        println!("unsupported: {reason}");
    }
}
