//! Conformance tests of the worker of `rustls@0.22`, except for operations that it does not
//! support.

use std::path::Path;

use netbench_tls::{ClientAuth, Work};
use netbench_worker_test::{conformance, nginx, openssl_command, protocol, suite_without, verify};

const WORKER: &str = env!("CARGO_BIN_EXE_netbench-worker-rustls-lines");

const STACK: &str = "rustls@0.22";

netbench_testing::tests! {
    it_serves_and_connects_to_itself;
    it_keeps_to_the_protocol;
    it_verifies_chains;
    it_gets_on_with_the_openssl_command: OpensslCommand;
    it_gets_on_with_nginx: Nginx;
    it_does_the_suite;
}

fn it_serves_and_connects_to_itself() {
    conformance(Path::new(WORKER), STACK);
}

fn it_verifies_chains() {
    verify(Path::new(WORKER), STACK);
}

fn it_gets_on_with_the_openssl_command() {
    openssl_command(Path::new(WORKER), STACK);
}

fn it_gets_on_with_nginx() {
    nginx(Path::new(WORKER), STACK);
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
