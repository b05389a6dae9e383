//! Conformance tests of the worker of `rustls@0.22`, except for operations that it does not
//! support.

use std::path::Path;

use netbench_tls::{ClientAuth, Work};
use netbench_worker_test::{conformance, nginx, openssl_command, protocol, suite_without, verify};

netbench_worker_test::tests! {
    env!("CARGO_BIN_EXE_netbench-worker-rustls-lines"), "rustls@0.22";
    conformance;
    protocol;
    verify;
    openssl_command: OpensslCommand;
    nginx: Nginx;
    the_suite;
}

fn the_suite(worker: &Path, stack: &str) {
    suite_without(worker, stack, |scenario| match scenario.work {
        Work::Handshake { settings, .. } => settings.client_auth == ClientAuth::On,
        Work::Crypto { .. } => true,
        _ => false,
    });
}
