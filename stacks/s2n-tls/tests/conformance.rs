//! Conformance tests of the worker of `s2n-tls`, except for features that its library lacks or does not
//! report.

mod limits;

use std::path::Path;

use netbench_worker_test::{conformance_but, nginx, openssl_command, protocol, suite_without};

const WORKER: &str = env!("CARGO_BIN_EXE_netbench-worker-s2n-tls");

const STACK: &str = "s2n-tls";

netbench_testing::tests! {
    it_serves_and_connects_to_itself;
    it_keeps_to_the_protocol;
    it_gets_on_with_the_openssl_command: OpensslCommand;
    it_gets_on_with_nginx: Nginx;
    it_does_the_suite;
}

fn it_serves_and_connects_to_itself() {
    conformance_but(Path::new(WORKER), STACK, &limits::exceptions());
}

fn it_keeps_to_the_protocol() {
    protocol(Path::new(WORKER), STACK);
}

fn it_gets_on_with_the_openssl_command() {
    openssl_command(Path::new(WORKER), STACK);
}

fn it_gets_on_with_nginx() {
    nginx(Path::new(WORKER), STACK);
}

fn it_does_the_suite() {
    suite_without(Path::new(WORKER), STACK, limits::lacks);
}
