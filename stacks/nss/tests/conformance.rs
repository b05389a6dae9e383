//! Conformance tests of the worker of `nss`, except for features that its library lacks.

use std::{path::Path, process::Command, sync::LazyLock};

use netbench_tls::{
    Group, HandshakeKind, KeyType, LabProfile, ParallelWork, Primitive, RootsForm, SessionSettings,
    TlsVersion, Work,
};
use netbench_worker_test::{
    conformance_without, nginx, openssl_command, protocol, suite_without, verify,
};

const WORKER: &str = env!("CARGO_BIN_EXE_netbench-worker-nss");

const STACK: &str = "nss";

netbench_testing::tests! {
    it_serves_and_connects_to_itself;
    it_keeps_to_the_protocol;
    it_verifies_chains;
    it_gets_on_with_the_openssl_command: OpensslCommand;
    it_gets_on_with_nginx: Nginx;
    it_does_the_suite;
}

fn it_serves_and_connects_to_itself() {
    conformance_without(Path::new(WORKER), STACK, has_no_group_for_the_key);
}

/// Returns whether a site's groups lack the curve of its certificate, which the library's server of TLS 1.2
/// requires among the groups of its key exchange.
fn has_no_group_for_the_key(site: &LabProfile) -> bool {
    let curve = match site.key {
        KeyType::EcdsaP256 => Group::SECP256R1,
        KeyType::EcdsaP384 => Group::SECP384R1,
        _ => return false,
    };
    site.tls.contains(&TlsVersion::Tls12)
        && !site.groups.is_empty()
        && !site.groups.contains(&curve)
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
        // A server of TLS 1.3 keeps no sessions.
        Work::Handshake { kind, settings } => {
            is_lacking(&settings)
                || (kind == HandshakeKind::SessionId && settings.version == TlsVersion::Tls13)
        }
        Work::Threads { work, settings, .. } => {
            is_lacking(&settings)
                || (work == ParallelWork::Handshake(HandshakeKind::SessionId)
                    && settings.version == TlsVersion::Tls13)
        }
        Work::Bulk { settings, .. } | Work::Memory { settings, .. } => is_lacking(&settings),
        Work::Verify { key, .. } | Work::ParallelVerify { key, .. } => key == KeyType::Ed25519,
        // The library does not read files of roots.
        Work::Connector { form, .. } => form == RootsForm::Native,
        Work::Crypto { primitive } => match primitive {
            Primitive::Sign { key } | Primitive::Verify { key } => key == KeyType::Ed25519,
            Primitive::KeyShare { group }
            | Primitive::Respond { group }
            | Primitive::Agree { group } => group == Group::X25519MLKEM768,
            Primitive::Seal { .. } | Primitive::Open { .. } => false,
        },
    });
}

/// Returns whether the library lacks a feature: it has no Ed25519 in TLS, and only newer releases have the
/// hybrid.
fn is_lacking(settings: &SessionSettings) -> bool {
    settings.key == KeyType::Ed25519 || (settings.group == Group::X25519MLKEM768 && !*HAS_HYBRID)
}

/// Whether the library has the hybrid, which this release added.
static HAS_HYBRID: LazyLock<bool> = LazyLock::new(|| {
    let asked = Command::new("pkg-config")
        .args(["--atleast-version=3.105", "nss"])
        .status();
    asked.expect("pkg-config runs").success()
});
