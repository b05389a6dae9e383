//! Conformance tests of the worker of `boringssl`, except for features that its library lacks.

use std::path::Path;

use netbench_worker_test::{
    conformance, ech, nginx, openssl_command, protocol, resumes_by_id_in_tls13, suite_without,
    verify,
};

netbench_worker_test::tests! {
    env!("CARGO_BIN_EXE_netbench-worker-boringssl"), "boringssl";
    conformance;
    protocol;
    openssl_command: OpensslCommand;
    nginx: Nginx;
    the_suite;
    verify;
    ech;
}

fn the_suite(worker: &Path, stack: &str) {
    suite_without(worker, stack, resumes_by_id_in_tls13);
}
