//! Conformance tests of the worker of `s2n-tls`, except for features that its library lacks or does not
//! report.

mod limits;

use std::path::Path;

use netbench_worker_test::{conformance_but, nginx, openssl_command, protocol, suite_without};

netbench_worker_test::tests! {
    env!("CARGO_BIN_EXE_netbench-worker-s2n-tls"), "s2n-tls";
    connections;
    protocol;
    openssl_command: OpensslCommand;
    nginx: Nginx;
    the_suite;
}

fn connections(worker: &Path, stack: &str) {
    conformance_but(worker, stack, &limits::exceptions());
}

fn the_suite(worker: &Path, stack: &str) {
    suite_without(worker, stack, limits::lacks);
}
