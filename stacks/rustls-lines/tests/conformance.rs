//! The worker of `rustls@0.22` as every worker must be, but for what it does not do.

use std::path::Path;

use netbench_model::{ClientAuth, Work};
use netbench_worker_test::{protocol, suite_without};

const WORKER: &str = env!("CARGO_BIN_EXE_netbench-worker-rustls-lines");

const STACK: &str = "rustls@0.22";

netbench_testing::tests! {
    it_keeps_to_the_protocol;
    it_does_the_suite;
}

fn it_keeps_to_the_protocol() {
    protocol(Path::new(WORKER), STACK);
}

fn it_does_the_suite() {
    suite_without(Path::new(WORKER), STACK, |scenario| match scenario.work {
        Work::Handshake { settings, .. } => settings.client_auth == ClientAuth::On,
        Work::Crypto { .. } => true,
        _ => false,
    });
}
