//! Tools with which tests check certificates.
#![allow(
    dead_code,
    unreachable_pub,
    clippy::allow_attributes,
    clippy::unwrap_used,
    reason = "each test binary uses some of it"
)]

use std::{path::Path, process::Command};

use rustls_pki_types::{CertificateDer, pem::PemObject as _};

/// The time limit of a call of `openssl`, in seconds.
const LIMIT_S: &str = "20";

pub fn certificates(pem: &str) -> Vec<CertificateDer<'static>> {
    CertificateDer::pem_slice_iter(pem.as_bytes())
        .collect::<Result<_, _>>()
        .unwrap()
}

/// Returns the output of `openssl`, from both streams.
pub fn openssl(arguments: &[&str]) -> String {
    let mut command = if Path::new("/usr/bin/timeout").exists() {
        let mut command = Command::new("/usr/bin/timeout");
        command.args([LIMIT_S, "openssl"]);
        command
    } else {
        Command::new("openssl")
    };
    let output = command.args(arguments).output().unwrap();
    format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

/// Panics unless `openssl` accepts the file `key` as a key, and as that of the file `leaf`.
pub fn check_key(case: &str, key: &str, leaf: &str) {
    let checked = openssl(&["pkey", "-in", key, "-check", "-noout"]);
    assert!(checked.contains("Key is valid"), "{case}: {checked}");
    let of_leaf = openssl(&["x509", "-in", leaf, "-noout", "-pubkey"]);
    assert!(of_leaf.contains("BEGIN PUBLIC KEY"), "{case}: {of_leaf}");
    let of_key = openssl(&["pkey", "-in", key, "-pubout"]);
    assert_eq!(of_leaf, of_key, "{case}");
}
