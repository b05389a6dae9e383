//! Versions, suites, groups and schemes, set in the same way on clients and servers.

use std::{ffi::CString, fmt::Display};

use netbench_tls::{CipherSuite, Group, SignatureScheme, TlsVersion};
use netbench_worker::SetupError;
use openssl::{
    error::ErrorStack,
    ssl::{SslContextBuilder, SslOptions},
};

use crate::{ffi, names};

/// The options of every context: AWS-LC has no compression.
pub(crate) const OPTIONS: SslOptions = SslOptions::empty();

/// Restricts a context to those of `versions` to which one of `suites` belongs, with exactly `suites`, in
/// this order.
pub(crate) fn set_versions_and_suites(
    ssl: &mut SslContextBuilder,
    versions: &[TlsVersion],
    suites: &[CipherSuite],
) -> Result<(), SetupError> {
    let usable = |version: &TlsVersion| suites.iter().any(|suite| suite.version() == *version);
    set_versions(ssl, versions.iter().copied().filter(usable))?;
    let (tls13, before): (Vec<CipherSuite>, Vec<_>) =
        suites.iter().copied().partition(|suite| suite.is_tls13());
    if !tls13.is_empty() {
        let list = CString::new(list(&tls13)).unwrap_or_default();
        ffi::set_ciphersuites(ssl, &list).map_err(|e| SetupError::refused("suites", e))?;
    }
    // A list without any known suite is an error; an unknown suite in a list is not.
    let known = before.is_empty() || ssl.set_cipher_list(&list(&before)).is_ok();
    let able = ffi::suites(ssl);
    match suites.iter().find(|suite| !known || !able.contains(suite)) {
        Some(suite) => Err(unsupported("suite", suite)),
        None => Ok(()),
    }
}

/// Returns the registered names of suites, which AWS-LC supports as well as its own.
fn list(suites: &[CipherSuite]) -> String {
    let names: Vec<_> = suites.iter().filter_map(|suite| suite.name()).collect();
    names.join(":")
}

/// Restricts a context to `versions`.
pub(crate) fn set_versions(
    ssl: &mut SslContextBuilder,
    versions: impl Iterator<Item = TlsVersion>,
) -> Result<(), SetupError> {
    let known = |version: &TlsVersion| {
        names::aws_lc_version(*version).ok_or_else(|| unsupported("version", version))
    };
    let versions: Vec<_> = versions.collect();
    let (Some(first), Some(last)) = (versions.iter().min(), versions.iter().max()) else {
        return Err(SetupError::Refused(
            "versions: none with a suite".to_owned(),
        ));
    };
    let (first, last) = (known(first)?, known(last)?);
    ssl.set_min_proto_version(Some(first))
        .and_then(|()| ssl.set_max_proto_version(Some(last)))
        .map_err(|e| SetupError::refused("versions", e))
}

/// Restricts a context to `groups`, in this order. Where the first is a hybrid, a client sends a key share
/// for it and one for the first group that is no hybrid, as other stacks do.
pub(crate) fn set_groups(ssl: &mut SslContextBuilder, groups: &[Group]) -> Result<(), SetupError> {
    let mut names = Vec::new();
    for group in groups {
        names.push(group_name(*group).ok_or_else(|| unsupported("group", group))?);
    }
    ssl.set_groups_list(&names.join(":"))
        .map_err(|e| SetupError::refused("groups", e))
}

/// Returns whether AWS-LC supports `group`.
pub(crate) fn can_group(group: Group) -> bool {
    group_name(group).is_some()
}

/// Returns AWS-LC's own name of a group.
fn group_name(group: Group) -> Option<&'static str> {
    Some(match group {
        Group::X25519MLKEM768 => "X25519MLKEM768",
        Group::X25519 => "X25519",
        Group::SECP256R1 => "P-256",
        Group::SECP384R1 => "P-384",
        _ => return None,
    })
}

/// Restricts the peer's schemes to `schemes`, in this order.
pub(crate) fn set_schemes(
    ssl: &mut SslContextBuilder,
    schemes: &[SignatureScheme],
) -> Result<(), SetupError> {
    ffi::set_schemes(ssl, schemes).map_err(|e| SetupError::refused("signature schemes", e))
}

/// Sets the number of tickets that a server of TLS 1.3 sends after a handshake.
pub(crate) fn set_tickets(ssl: &mut SslContextBuilder, tickets: usize) -> Result<(), ErrorStack> {
    ffi::set_tickets(ssl, tickets)
}

fn unsupported(what: &str, name: impl Display) -> SetupError {
    SetupError::Unsupported(format!("no {what} {name} in AWS-LC"))
}
