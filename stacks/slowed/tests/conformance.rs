//! Conformance tests of the worker of `slowed`: its slowness must not change its behaviour.

use std::path::Path;

use netbench_worker_test::{protocol, suite};

const WORKER: &str = env!("CARGO_BIN_EXE_netbench-worker-slowed");

#[test]
fn it_keeps_to_the_protocol() {
    protocol(Path::new(WORKER), "slowed");
}

#[test]
fn it_does_the_suite() {
    suite(Path::new(WORKER), "slowed");
}
