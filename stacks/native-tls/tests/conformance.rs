//! Conformance tests of the worker of `native-tls`, with its library's default settings.

use std::path::Path;

use netbench_worker_test::{Rules, lacks_only, nginx, openssl_command, protocol};

const WORKER: &str = env!("CARGO_BIN_EXE_netbench-worker-native-tls");

const STACK: &str = "native-tls";

/// A part of the names of cases that are `unsupported`, and the reason.
const LACKS: [(&str, &str); 3] = [
    ("-resumed-", "native-tls keeps no sessions"),
    ("-no-tickets", "native-tls keeps no sessions"),
    ("-clean-after-prime", "native-tls keeps no sessions"),
];

netbench_testing::tests! {
    it_serves_and_connects_to_itself;
    it_keeps_to_the_protocol;
    it_gets_on_with_the_openssl_command: OpensslCommand;
    it_gets_on_with_nginx: Nginx;
}

fn it_serves_and_connects_to_itself() {
    lacks_only(Rules::Connections, Path::new(WORKER), STACK, &LACKS);
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
