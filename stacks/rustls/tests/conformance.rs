//! The worker of `rustls-ring` and `rustls-aws-lc` as every worker must be.

use std::path::Path;

use netbench_worker_test::{conformance, nginx, openssl_command, protocol, suite};

const WORKER: &str = env!("CARGO_BIN_EXE_netbench-worker-rustls");

const STACKS: [&str; 2] = ["rustls-ring", "rustls-aws-lc"];

#[test]
fn ring_serves_and_connects_to_itself() {
    conformance(Path::new(WORKER), "rustls-ring");
}

#[test]
fn aws_lc_serves_and_connects_to_itself() {
    conformance(Path::new(WORKER), "rustls-aws-lc");
}

#[test]
fn they_keep_to_the_protocol() {
    for stack in STACKS {
        protocol(Path::new(WORKER), stack);
    }
}

#[test]
fn they_get_on_with_the_openssl_command() {
    for stack in STACKS {
        if let Err(reason) = openssl_command(Path::new(WORKER), stack) {
            println!("unsupported: {reason}");
        }
    }
}

#[test]
fn they_get_on_with_nginx() {
    for stack in STACKS {
        if let Err(reason) = nginx(Path::new(WORKER), stack) {
            println!("unsupported: {reason}");
        }
    }
}

#[test]
fn they_do_the_suite() {
    for stack in STACKS {
        suite(Path::new(WORKER), stack);
    }
}
