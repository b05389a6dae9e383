//! Conformance tests of the worker of `boringssl`, except for features that its library lacks.

use std::path::Path;

use netbench_tls::{HandshakeKind, ParallelWork, TlsVersion, Work};
use netbench_worker_test::{conformance, nginx, openssl_command, protocol, suite_without, verify};

const WORKER: &str = env!("CARGO_BIN_EXE_netbench-worker-boringssl");

const STACK: &str = "boringssl";

netbench_testing::tests! {
    it_serves_and_connects_to_itself;
    it_keeps_to_the_protocol;
    it_gets_on_with_the_openssl_command: OpensslCommand;
    it_gets_on_with_nginx: Nginx;
    it_does_the_suite;
    it_verifies_chains_without_a_connection;
}

fn it_serves_and_connects_to_itself() {
    conformance(Path::new(WORKER), STACK);
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
    suite_without(Path::new(WORKER), STACK, |scenario| {
        // In TLS 1.3, BoringSSL's server keeps no sessions.
        let (Work::Handshake { kind, settings }
        | Work::Threads {
            work: ParallelWork::Handshake(kind),
            settings,
            ..
        }) = scenario.work
        else {
            return false;
        };
        kind == HandshakeKind::SessionId && settings.version == TlsVersion::Tls13
    });
}

fn it_verifies_chains_without_a_connection() {
    verify(Path::new(WORKER), STACK);
}
