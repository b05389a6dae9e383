//! Conformance tests of the worker of `gnutls`, except for features that its library lacks.

use std::path::Path;

use netbench_tls::{ClientAuth, HandshakeKind, KeyType, ParallelWork, Primitive, TlsVersion, Work};
use netbench_worker_test::{conformance, nginx, openssl_command, protocol, suite_without, verify};

netbench_worker_test::tests! {
    env!("CARGO_BIN_EXE_netbench-worker-gnutls"), "gnutls";
    conformance;
    protocol;
    verify;
    openssl_command: OpensslCommand;
    nginx: Nginx;
    the_suite;
}

fn the_suite(worker: &Path, stack: &str) {
    suite_without(worker, stack, |scenario| match scenario.work {
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
