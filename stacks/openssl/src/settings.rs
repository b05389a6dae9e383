//! Versions, suites and groups, set in the same way on clients and servers.

use std::fmt::Display;

use netbench_tls::{CipherSuite, Group, SignatureScheme, TlsVersion};
use netbench_worker::SetupError;
use openssl::{
    error::ErrorStack,
    ssl::{SslContextBuilder, SslOptions},
};

use crate::{ffi, names};

/// OpenSSL 3.5.0, the first with X25519MLKEM768.
const FIRST_WITH_ML_KEM: i64 = 0x3050_0000;

/// The options of every context.
pub(crate) const OPTIONS: SslOptions = SslOptions::NO_COMPRESSION;

/// Restricts a context to those of `versions` to which one of `suites` belongs, as rustls does,
/// with exactly `suites`, in this order.
pub(crate) fn set_versions_and_suites(
    ssl: &mut SslContextBuilder,
    versions: &[TlsVersion],
    suites: &[CipherSuite],
) -> Result<(), SetupError> {
    let usable = |version: &TlsVersion| suites.iter().any(|suite| suite.version() == *version);
    set_versions(ssl, versions.iter().copied().filter(usable))?;
    let list = |version: TlsVersion| {
        let these = suites.iter().filter(|suite| suite.version() == version);
        let names: Vec<_> = these.map(|suite| names::openssl_name(*suite)).collect();
        names.join(":")
    };
    let refused = |e| SetupError::refused("suites", e);
    ssl.set_ciphersuites(&list(TlsVersion::Tls13))
        .map_err(refused)?;
    let tls12 = list(TlsVersion::Tls12);
    // A list without any known suite is an error; an unknown suite in a list is not.
    let known = tls12.is_empty() || ssl.set_cipher_list(&tls12).is_ok();
    let able = ffi::suites(ssl);
    match suites.iter().find(|suite| !known || !able.contains(*suite)) {
        Some(suite) => Err(unsupported("suite", suite)),
        None => Ok(()),
    }
}

/// Restricts a context to `versions`.
pub(crate) fn set_versions(
    ssl: &mut SslContextBuilder,
    versions: impl Iterator<Item = TlsVersion>,
) -> Result<(), SetupError> {
    let versions: Vec<_> = versions.collect();
    let (Some(first), Some(last)) = (versions.iter().min(), versions.iter().max()) else {
        return Err(SetupError::Refused(
            "versions: none with a suite".to_owned(),
        ));
    };
    ssl.set_min_proto_version(Some(names::openssl_version(*first)))
        .and_then(|()| ssl.set_max_proto_version(Some(names::openssl_version(*last))))
        .map_err(|e| SetupError::refused("versions", e))
}

/// Restricts a context to `groups`, in this order.
pub(crate) fn set_groups(ssl: &mut SslContextBuilder, groups: &[Group]) -> Result<(), SetupError> {
    if let Some(group) = groups.iter().find(|group| !can_group(**group)) {
        return Err(unsupported("group", group));
    }
    ssl.set_groups_list(&names::groups_list(groups))
        .map_err(|e| SetupError::refused("groups", e))
}

/// Restricts the peer's schemes to `schemes`, in this order.
pub(crate) fn set_schemes(
    ssl: &mut SslContextBuilder,
    schemes: &[SignatureScheme],
) -> Result<(), SetupError> {
    ssl.set_sigalgs_list(&names::list(schemes))
        .map_err(|e| SetupError::refused("signature schemes", e))
}

/// Sets the number of tickets that a server of TLS 1.3 sends after a handshake.
pub(crate) fn set_tickets(ssl: &mut SslContextBuilder, tickets: usize) -> Result<(), ErrorStack> {
    ssl.set_num_tickets(tickets)
}

/// Returns whether the library supports `group`.
pub fn can_group(group: Group) -> bool {
    match group {
        Group::X25519MLKEM768 => openssl::version::number() >= FIRST_WITH_ML_KEM,
        other => Group::OFFERED.contains(&other),
    }
}

fn unsupported(what: &str, name: impl Display) -> SetupError {
    let library = openssl::version::version();
    SetupError::Unsupported(format!("no {what} {name} in {library}"))
}
