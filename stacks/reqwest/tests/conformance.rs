//! Conformance tests of the worker of `reqwest`.

use std::path::Path;

use netbench_worker_test::{Rules, lacks_only, nginx, openssl_command, protocol};

netbench_worker_test::tests! {
    env!("CARGO_BIN_EXE_netbench-worker-reqwest"), "reqwest";
    connections;
    protocol;
    openssl_command: OpensslCommand;
    nginx: Nginx;
}

fn connections(worker: &Path, stack: &str) {
    lacks_only(Rules::Connections, worker, stack, &[]);
}
