//! Versions, suites, groups, schemes and certificates, set in the same way on clients and servers.

use std::{ffi::c_int, fmt::Display, ptr};

use boring::{
    error::ErrorStack,
    pkey::PKey,
    ssl::{SslContextBuilder, SslSignatureAlgorithm, SslVersion},
    x509::{
        X509,
        store::{X509Store, X509StoreBuilder},
    },
};
use netbench_tls::{CipherSuite, Group, SignatureScheme, TlsVersion};
use netbench_worker::{SetupError, refused, usable_versions, version_range};

use crate::names;

/// Restricts a context to those of `versions` to which one of `suites` belongs, with exactly `suites`, in
/// this order.
pub(crate) fn set_versions_and_suites(
    ssl: &mut SslContextBuilder,
    versions: &[TlsVersion],
    suites: &[CipherSuite],
) -> Result<(), SetupError> {
    set_versions(ssl, &usable_versions(versions, suites))?;
    let (tls13, before): (Vec<CipherSuite>, Vec<_>) =
        suites.iter().copied().partition(|suite| suite.is_tls13());
    let codes: Vec<u16> = tls13.iter().map(|suite| suite.0).collect();
    if !codes.is_empty() {
        // SAFETY: the context is live, and so are the code points, which are copied. Without flags, each
        // suite precedes those that follow.
        let result = unsafe {
            boring_sys::SSL_CTX_set1_tls13_ciphers(
                ssl.as_ptr(),
                codes.as_ptr(),
                ptr::null(),
                codes.len(),
            )
        };
        good(result).map_err(refused("suites"))?;
    }
    if before.is_empty() {
        return Ok(());
    }
    let names: Vec<_> = before.iter().filter_map(|suite| suite.name()).collect();
    // A list without any known suite is an error; an unknown suite in a list is not.
    let known = ssl.set_cipher_list(&names.join(":")).is_ok();
    let able: Vec<u16> = ssl
        .ciphers()
        .map(|list| list.iter().map(|cipher| cipher.protocol_id()).collect())
        .unwrap_or_default();
    match before
        .iter()
        .find(|suite| !known || !able.contains(&suite.0))
    {
        Some(suite) => Err(unsupported("suite", suite)),
        None => Ok(()),
    }
}

/// Restricts a context to `versions`.
pub(crate) fn set_versions(
    ssl: &mut SslContextBuilder,
    versions: &[TlsVersion],
) -> Result<(), SetupError> {
    let (first, last) = version_range(versions)?;
    let (first, last) = (known(first)?, known(last)?);
    ssl.set_min_proto_version(Some(first))
        .and_then(|()| ssl.set_max_proto_version(Some(last)))
        .map_err(refused("versions"))
}

fn known(version: TlsVersion) -> Result<SslVersion, SetupError> {
    names::boring_version(version).ok_or_else(|| unsupported("version", version))
}

/// Restricts a context to `groups`, in this order. Where the first is a hybrid, a client sends a key share
/// for it and one for the first group that is no hybrid, as other stacks do.
pub(crate) fn set_groups(ssl: &mut SslContextBuilder, groups: &[Group]) -> Result<(), SetupError> {
    if let Some(group) = groups.iter().find(|group| !can_group(**group)) {
        return Err(unsupported("group", group));
    }
    let codes: Vec<u16> = groups.iter().map(|group| group.0).collect();
    // SAFETY: the context is live, and so are the code points, which are copied.
    let result =
        unsafe { boring_sys::SSL_CTX_set1_group_ids(ssl.as_ptr(), codes.as_ptr(), codes.len()) };
    good(result).map_err(refused("groups"))
}

/// Returns whether BoringSSL supports `group`.
pub(crate) fn can_group(group: Group) -> bool {
    Group::OFFERED.contains(&group)
}

/// Returns whether BoringSSL supports `suite`. It has no suites with finite fields.
pub(crate) fn can_suite(suite: CipherSuite) -> bool {
    suite != CipherSuite::TLS_DHE_RSA_WITH_AES_128_GCM_SHA256
}

/// Restricts the peer's schemes to `schemes`, in this order.
pub(crate) fn set_schemes(
    ssl: &mut SslContextBuilder,
    schemes: &[SignatureScheme],
) -> Result<(), SetupError> {
    let schemes: Vec<_> = schemes
        .iter()
        .map(|scheme| SslSignatureAlgorithm::from(scheme.0))
        .collect();
    ssl.set_verify_algorithm_prefs(&schemes)
        .map_err(refused("signature schemes"))
}

/// Sets the number of tickets that a server of TLS 1.3 sends after a handshake.
pub(crate) fn set_tickets(ssl: &mut SslContextBuilder, tickets: usize) -> Result<(), ErrorStack> {
    // SAFETY: the context is live.
    good(unsafe { boring_sys::SSL_CTX_set_num_tickets(ssl.as_ptr(), tickets) })
}

/// Limits records to `bytes` of plaintext. BoringSSL would take the nearest length that it supports.
pub(crate) fn set_max_send_fragment(
    ssl: &mut SslContextBuilder,
    bytes: u16,
) -> Result<(), SetupError> {
    if !(512..=16_384).contains(&bytes) {
        let why = "BoringSSL takes 512 to 16,384 bytes";
        return Err(SetupError::refused("maximum fragment", why));
    }
    // SAFETY: the context is live.
    let result = unsafe { boring_sys::SSL_CTX_set_max_send_fragment(ssl.as_ptr(), bytes.into()) };
    good(result).map_err(refused("maximum fragment"))
}

/// Sets the chain that a context sends, the leaf first, and its key.
pub(crate) fn set_identity(
    ssl: &mut SslContextBuilder,
    chain_pem: &str,
    key_pem: &str,
) -> Result<(), SetupError> {
    let mut chain = X509::stack_from_pem(chain_pem.as_bytes())
        .map_err(refused("chain"))?
        .into_iter();
    let leaf = chain
        .next()
        .ok_or_else(|| SetupError::Refused("chain: no certificate".to_owned()))?;
    // Without a callback, the library would ask for the password of an encrypted key on the terminal.
    let key = PKey::private_key_from_pem_callback(key_pem.as_bytes(), |_| Ok(0))
        .map_err(refused("key"))?;
    ssl.set_certificate(&leaf).map_err(refused("leaf"))?;
    for above in chain {
        ssl.add_extra_chain_cert(above).map_err(refused("chain"))?;
    }
    ssl.set_private_key(&key)
        .and_then(|()| ssl.check_private_key())
        .map_err(refused("chain and key"))
}

/// Parses the trust roots of a PEM file.
pub(crate) fn roots(pem: &str) -> Result<Vec<X509>, SetupError> {
    match X509::stack_from_pem(pem.as_bytes()) {
        Ok(found) if found.is_empty() => Err(SetupError::Refused("roots: none".to_owned())),
        found => found.map_err(refused("roots")),
    }
}

/// Makes a store with `roots`.
pub(crate) fn store(roots: &[X509]) -> Result<X509Store, SetupError> {
    let mut store = X509StoreBuilder::new().map_err(refused("roots"))?;
    roots
        .iter()
        .try_for_each(|root| store.add_cert(root))
        .map_err(refused("roots"))?;
    Ok(store.build())
}

/// Returns the library's error, where `result` is not 1.
pub(crate) fn good(result: c_int) -> Result<(), ErrorStack> {
    if result == 1 {
        Ok(())
    } else {
        Err(ErrorStack::get())
    }
}

fn unsupported(what: &str, name: impl Display) -> SetupError {
    SetupError::Unsupported(format!("no {what} {name} in BoringSSL"))
}
