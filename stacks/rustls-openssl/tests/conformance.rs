//! Conformance tests of the worker of `rustls-openssl`.

use std::path::Path;

use netbench_worker_test::{
    conformance, nginx, openssl_command, protocol, resumes_by_ticket, set_up, suite_without, verify,
};

netbench_worker_test::tests! {
    env!("CARGO_BIN_EXE_netbench-worker-rustls-openssl"), "rustls-openssl";
    conformance;
    protocol;
    verify;
    set_up;
    openssl_command: OpensslCommand;
    nginx: Nginx;
    the_suite;
}

/// Runs the suite without the scenarios that require tickets, which the provider cannot make.
fn the_suite(worker: &Path, stack: &str) {
    suite_without(worker, stack, resumes_by_ticket);
}
