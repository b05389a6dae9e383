//! Conformance tests of the worker of `native-tls`, with its library's default settings.

use std::path::Path;

use netbench_worker_test::{Rules, lacks_only, nginx, openssl_command, protocol};

/// A part of the names of cases that are `unsupported`, and the reason.
const LACKS: [(&str, &str); 3] = [
    ("-resumed-", "native-tls keeps no sessions"),
    ("-no-tickets", "native-tls keeps no sessions"),
    ("-clean-after-prime", "native-tls keeps no sessions"),
];

netbench_worker_test::tests! {
    env!("CARGO_BIN_EXE_netbench-worker-native-tls"), "native-tls";
    connections;
    protocol;
    openssl_command: OpensslCommand;
    nginx: Nginx;
}

fn connections(worker: &Path, stack: &str) {
    lacks_only(Rules::Connections, worker, stack, &LACKS);
}
