//! Conformance tests of the worker of `servo`, except for features that Servo has no settings for.

use std::path::Path;

use netbench_worker_test::{Rules, lacks_only, nginx, openssl_command, protocol};

const WORKER: &str = env!("CARGO_BIN_EXE_netbench-worker-servo");

const STACKS: [&str; 2] = ["servo", "servo+webpki-roots"];

netbench_testing::tests! {
    it_serves_and_connects_to_itself;
    it_keeps_to_the_protocol;
    it_gets_on_with_the_openssl_command: OpensslCommand;
    it_gets_on_with_nginx: Nginx;
}

fn it_serves_and_connects_to_itself() {
    for stack in STACKS {
        lacks_only(Rules::Connections, Path::new(WORKER), stack, &[]);
    }
}

fn it_keeps_to_the_protocol() {
    for stack in STACKS {
        protocol(Path::new(WORKER), stack);
    }
}

fn it_gets_on_with_the_openssl_command() {
    openssl_command(Path::new(WORKER), "servo");
}

fn it_gets_on_with_nginx() {
    nginx(Path::new(WORKER), "servo");
}
