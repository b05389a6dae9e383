//! Conformance tests of the worker of `rustls@0.24-dev`.

use netbench_worker_test::{conformance, nginx, openssl_command, protocol, suite, verify};

netbench_worker_test::tests! {
    env!("CARGO_BIN_EXE_netbench-worker-rustls-dev"), "rustls@0.24-dev";
    conformance;
    protocol;
    verify;
    openssl_command: OpensslCommand;
    nginx: Nginx;
    suite;
}
