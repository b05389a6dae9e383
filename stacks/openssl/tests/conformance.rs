//! The worker of `openssl` as every worker must be.

use std::path::Path;

use netbench_worker_test::{conformance, nginx, openssl_command, protocol, suite};

const WORKER: &str = env!("CARGO_BIN_EXE_netbench-worker-openssl");

#[test]
fn it_serves_and_connects_to_itself() {
    conformance(Path::new(WORKER), "openssl");
}

#[test]
fn it_keeps_to_the_protocol() {
    protocol(Path::new(WORKER), "openssl");
}

#[test]
fn it_gets_on_with_the_openssl_command() {
    if let Err(reason) = openssl_command(Path::new(WORKER), "openssl") {
        println!("unsupported: {reason}");
    }
}

#[test]
fn it_gets_on_with_nginx() {
    if let Err(reason) = nginx(Path::new(WORKER), "openssl") {
        println!("unsupported: {reason}");
    }
}

#[test]
fn it_does_the_suite() {
    suite(Path::new(WORKER), "openssl");
}
