//! Conformance tests of the worker of `gnutls`, except for features that its library lacks.

use std::path::Path;

use netbench_tls::{ClientAuth, HandshakeKind, KeyType, ParallelWork, Primitive, TlsVersion, Work};
use netbench_worker_test::{conformance, nginx, openssl_command, protocol, suite_without, verify};

const WORKER: &str = env!("CARGO_BIN_EXE_netbench-worker-gnutls");

const STACK: &str = "gnutls";

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

fn it_keeps_to_the_protocol() {
    protocol(Path::new(WORKER), STACK);
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

fn it_does_the_suite() {
    suite_without(Path::new(WORKER), STACK, |scenario| match scenario.work {
        // A server of TLS 1.3 keeps no sessions, and before that version, clients have no certificates with
        // Ed25519.
        Work::Handshake { kind, settings } => match settings.version {
            TlsVersion::Tls13 => kind == HandshakeKind::SessionId,
            _ => settings.key == KeyType::Ed25519 && settings.client_auth == ClientAuth::On,
        },
        Work::Threads { work, settings, .. } => {
            work == ParallelWork::Handshake(HandshakeKind::SessionId)
                && settings.version == TlsVersion::Tls13
        }
        // The library's public interface has no key exchange.
        Work::Crypto { primitive } => matches!(
            primitive,
            Primitive::KeyShare { .. } | Primitive::Respond { .. } | Primitive::Agree { .. }
        ),
        Work::Bulk { .. }
        | Work::Verify { .. }
        | Work::ParallelVerify { .. }
        | Work::Connector { .. }
        | Work::Memory { .. } => false,
    });
}
