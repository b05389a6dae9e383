//! Versions, suites, groups and schemes, set in the same way on clients and servers, and other differences from
//! OpenSSL.

use std::{
    ffi::{CString, c_int, c_void},
    fmt::Display,
    ptr,
};

use foreign_types_shared::ForeignTypeRef;
use netbench_libssl::{Libssl, Side, VerifyCallback, good};
use netbench_tls::{CipherSuite, Group, Negotiated, SignatureScheme, TlsVersion};
use netbench_worker::{SetupError, refused};
use openssl::{
    error::ErrorStack,
    ssl::{SslContextBuilder, SslOptions, SslRef},
    x509::{X509CrlRef, X509StoreContextRef, store::X509StoreBuilderRef},
};
use openssl_sys::{self as sys, X509_STORE_CTX};

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
            // SAFETY: the context is live, and so is the text, which is read.
            good(unsafe { sys::SSL_CTX_set_ciphersuites(ssl.as_ptr(), list.as_ptr()) })
                .map_err(refused("suites"))?;
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
        let codes: Vec<u16> = schemes.iter().map(|scheme| scheme.0).collect();
        let (context, count) = (ssl.as_ptr(), codes.len());
        // SAFETY: the context is live, and so are the code points, which are copied.
        good(unsafe { sys::SSL_CTX_set_verify_algorithm_prefs(context, codes.as_ptr(), count) })
            .map_err(refused("signature schemes"))
    }

    fn set_tickets(ssl: &mut SslContextBuilder, tickets: usize) -> Result<(), ErrorStack> {
        // SAFETY: the context is live.
        good(unsafe { sys::SSL_CTX_set_num_tickets(ssl.as_ptr(), tickets) })
    }

    /// Limits records. AWS-LC would take the nearest length that it supports.
    fn set_max_send_fragment(ssl: &mut SslContextBuilder, bytes: u16) -> Result<(), SetupError> {
        let context = ssl.as_ptr();
        // SAFETY: the context is live.
        let is_set = (512..=16_384).contains(&bytes)
            && unsafe { sys::SSL_CTX_set_max_send_fragment(context, bytes.into()) } == 1;
        if is_set {
            return Ok(());
        }
        let why = "AWS-LC takes 512 to 16,384 bytes";
        Err(SetupError::refused("maximum fragment", why))
    }

    fn set_cert_verify_callback(ssl: &mut SslContextBuilder, callback: VerifyCallback) {
        let callback: unsafe extern "C" fn(*mut X509_STORE_CTX, *mut c_void) -> c_int = callback;
        let (context, nothing) = (ssl.as_ptr(), ptr::null_mut());
        // SAFETY: the context is live, a function has static lifetime, and the argument is not used.
        unsafe { sys::SSL_CTX_set_cert_verify_callback(context, Some(callback), nothing) };
    }

    /// Sets the purpose of a server's certificate, and the parameters of `ssl`, including its host.
    fn set_as_client(context: &mut X509StoreContextRef, ssl: &SslRef) -> Result<(), ErrorStack> {
        // SAFETY: both are live. The context owns its parameters, and copies those of `ssl`.
        unsafe {
            let (context, own) = (context.as_ptr(), sys::SSL_get0_param(ssl.as_ptr()));
            good(sys::X509_STORE_CTX_set_default(
                context,
                c"ssl_server".as_ptr(),
            ))?;
            let parameters = sys::X509_STORE_CTX_get0_param(context);
            good(sys::X509_VERIFY_PARAM_set1(parameters, own))
        }
    }

    fn add_crl(store: &mut X509StoreBuilderRef, crl: &X509CrlRef) -> Result<(), ErrorStack> {
        // SAFETY: both are live.
        good(unsafe { sys::X509_STORE_add_crl(store.as_ptr(), crl.as_ptr()) })
    }

    fn negotiated(ssl: &SslRef, side: Side) -> Negotiated {
        negotiated::negotiated(ssl, side)
    }

    /// Sends the tickets: AWS-LC keeps those of TLS 1.3 until the server writes, and lets servers without data make
    /// an empty write.
    fn send_tickets(ssl: &SslRef) -> Result<(), ErrorStack> {
        // SAFETY: the connection is live, and no bytes are read.
        match unsafe { sys::SSL_write(ssl.as_ptr(), ptr::null(), 0) } {
            result if result < 0 => Err(ErrorStack::get()),
            _ => Ok(()),
        }
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
