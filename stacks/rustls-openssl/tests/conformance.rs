//! Conformance tests of the worker of `rustls-openssl`.

use std::path::Path;

use netbench_worker_test::{
    conformance, nginx, openssl_command, protocol, resumes_by_ticket, set_up, suite_without, verify,
};

const WORKER: &str = env!("CARGO_BIN_EXE_netbench-worker-rustls-openssl");

const STACK: &str = "rustls-openssl";

netbench_testing::tests! {
    it_serves_and_connects_to_itself;
    it_keeps_to_the_protocol;
    it_verifies_chains;
    it_takes_the_steps_of_its_set_up;
    it_gets_on_with_the_openssl_command: OpensslCommand;
    it_gets_on_with_nginx: Nginx;
    it_does_the_suite;
}

fn it_serves_and_connects_to_itself() {
    conformance(Path::new(WORKER), STACK);
}

fn it_keeps_to_the_protocol() {
    protocol(Path::new(WORKER), STACK);
}

fn it_verifies_chains() {
    verify(Path::new(WORKER), STACK);
}

fn it_takes_the_steps_of_its_set_up() {
    set_up(Path::new(WORKER), STACK);
}

fn it_gets_on_with_the_openssl_command() {
    openssl_command(Path::new(WORKER), STACK);
}

fn it_gets_on_with_nginx() {
    nginx(Path::new(WORKER), STACK);
}

/// Runs the suite without the scenarios that require tickets, which the provider cannot make.
fn it_does_the_suite() {
    suite_without(Path::new(WORKER), STACK, resumes_by_ticket);
}
