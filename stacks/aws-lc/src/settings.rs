//! Versions, suites, groups and schemes, set in the same way on clients and servers, and other differences from
//! OpenSSL.

use std::{ffi::CString, fmt::Display};

use netbench_libssl::{Libssl, Side, VerifyCallback};
use netbench_tls::{CipherSuite, Group, Negotiated, SignatureScheme, TlsVersion};
use netbench_worker::{SetupError, refused};
use openssl::{
    error::ErrorStack,
    ssl::{SslConnector, SslContextBuilder, SslOptions, SslRef},
    x509::{X509CrlRef, X509StoreContextRef, store::X509StoreBuilderRef},
};

use crate::{ffi, negotiated, stack::AwsLc};

impl Libssl for AwsLc {
    /// None: AWS-LC has no compression.
    const OPTIONS: SslOptions = SslOptions::empty();

    fn set_versions(
        ssl: &mut SslContextBuilder,
        versions: &[TlsVersion],
    ) -> Result<(), SetupError> {
        // The openssl crate has SSL 3.0, and AWS-LC does not.
        if let Some(old) = versions.iter().find(|old| **old == TlsVersion::Ssl3) {
            return Err(unsupported("version", old));
        }
        netbench_libssl::set_versions(ssl, versions)
    }

    fn set_suites(ssl: &mut SslContextBuilder, suites: &[CipherSuite]) -> Result<(), SetupError> {
        let (tls13, before): (Vec<CipherSuite>, Vec<_>) =
            suites.iter().copied().partition(|suite| suite.is_tls13());
        if !tls13.is_empty() {
            let list = CString::new(list(&tls13)).unwrap_or_default();
            ffi::set_ciphersuites(ssl, &list).map_err(refused("suites"))?;
        }
        // A list without any known suite is an error; an unknown suite in a list is not.
        let known = before.is_empty() || ssl.set_cipher_list(&list(&before)).is_ok();
        let able = ffi::suites(ssl);
        match suites.iter().find(|suite| !known || !able.contains(suite)) {
            Some(suite) => Err(unsupported("suite", suite)),
            None => Ok(()),
        }
    }

    /// Restricts a context to `groups`, in this order. Where the first is a hybrid, a client sends a key share for
    /// it and one for the first group that is no hybrid, as other stacks do.
    fn set_groups(ssl: &mut SslContextBuilder, groups: &[Group]) -> Result<(), SetupError> {
        let mut names = Vec::new();
        for group in groups {
            names.push(group_name(*group).ok_or_else(|| unsupported("group", group))?);
        }
        ssl.set_groups_list(&names.join(":"))
            .map_err(refused("groups"))
    }

    fn set_schemes(
        ssl: &mut SslContextBuilder,
        schemes: &[SignatureScheme],
    ) -> Result<(), SetupError> {
        if let Some(scheme) = schemes.iter().find(|scheme| !ffi::has_scheme(**scheme)) {
            return Err(unsupported("signature scheme", scheme));
        }
        ffi::set_schemes(ssl, schemes).map_err(refused("signature schemes"))
    }

    fn set_tickets(ssl: &mut SslContextBuilder, tickets: usize) -> Result<(), ErrorStack> {
        ffi::set_tickets(ssl, tickets)
    }

    fn set_max_send_fragment(ssl: &mut SslContextBuilder, bytes: u16) -> Result<(), SetupError> {
        ffi::set_max_send_fragment(ssl, bytes).map_err(refused("maximum fragment"))
    }

    fn set_cert_verify_callback(ssl: &mut SslContextBuilder, callback: VerifyCallback) {
        ffi::set_cert_verify_callback(ssl, callback);
    }

    fn set_as_client(context: &mut X509StoreContextRef, ssl: &SslRef) -> Result<(), ErrorStack> {
        ffi::set_as_client(context, ssl)
    }

    fn add_crl(store: &mut X509StoreBuilderRef, crl: &X509CrlRef) -> Result<(), ErrorStack> {
        ffi::add_crl(store, crl)
    }

    /// Returns no number: with AWS-LC, the openssl crate does not report it.
    fn roots_read(_: &SslConnector) -> Option<u32> {
        None
    }

    fn negotiated(ssl: &SslRef, side: Side) -> Negotiated {
        negotiated::negotiated(ssl, side)
    }

    /// Sends the tickets: AWS-LC keeps those of TLS 1.3 until the server writes, and lets servers without data make
    /// an empty write.
    fn send_tickets(ssl: &SslRef) -> Result<(), ErrorStack> {
        ffi::write_nothing(ssl)
    }
}

/// Returns the registered names of suites, which AWS-LC supports as well as its own.
fn list(suites: &[CipherSuite]) -> String {
    let names: Vec<_> = suites.iter().filter_map(|suite| suite.name()).collect();
    names.join(":")
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

fn unsupported(what: &str, name: impl Display) -> SetupError {
    SetupError::Unsupported(format!("no {what} {name} in AWS-LC"))
}
