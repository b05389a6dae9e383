//! Encrypted ClientHello (RFC 9849), which libssl has since 4.0.

use std::{ffi::c_int, ptr};

use base64::{Engine, engine::general_purpose::STANDARD};
use foreign_types_shared::{ForeignType, ForeignTypeRef};
use openssl::{
    error::ErrorStack,
    pkey::{Id, PKey},
    ssl::SslRef,
};

use crate::{
    Failure, Options,
    expected::{ensure, same},
};

use super::{
    errors::{library, succeeded},
    ffi::{self, EchStore},
    newer::*,
    state::state,
};

/// `SSL_OP_ECH_GREASE` of openssl/ssl.h.
const GREASE: u64 = 1 << 37;

/// `SSL_ECH_STATUS_SUCCESS` and `SSL_ECH_STATUS_BAD_NAME` of openssl/ech.h: in both, the server decrypted the inner
/// hello.
const ACCEPTED: [c_int; 2] = [1, -102];

/// `SSL_ECH_STATUS_FAILED`, `SSL_ECH_STATUS_FAILED_ECH` and `SSL_ECH_STATUS_FAILED_ECH_BAD_NAME` of openssl/ech.h.
const REJECTED: [c_int; 3] = [0, -105, -106];

/// The reason of the error with which a client ends a connection whose server rejected.
const ECH_REQUIRED: &str = ":ECH_REQUIRED:";

/// Sets the configurations that a client offers, or the keys of a server.
pub(crate) fn set(ssl: &mut SslRef, options: &Options) -> Result<(), Failure> {
    let flags = [
        "-ech-config-list",
        "-enable-ech-grease",
        "-ech-server-config",
    ];
    if options.on("-dtls") && flags.into_iter().any(|flag| options.on(flag)) {
        return Err(Failure::unsupported(
            "DTLS 1.3, and with it Encrypted ClientHello",
        ));
    }
    if let Some(list) = options.bytes("-ech-config-list") {
        // SAFETY: the connection is live, and copies as many bytes as are given.
        let result = unsafe { SSL_set1_ech_config_list(ssl.as_ptr(), list.as_ptr(), list.len()) };
        succeeded(result)?;
        // A configuration that the library passes over leaves an error, which would be read as that of the handshake.
        drop(ErrorStack::get());
    }
    if options.on("-enable-ech-grease") {
        ffi::set_options(ssl, GREASE);
    }
    let configs = options.all_bytes("-ech-server-config");
    if configs.is_empty() {
        return Ok(());
    }
    let store = Store::new()?;
    let keys = options.all_bytes("-ech-server-key");
    let for_retry = options.numbers("-ech-is-retry-config");
    for ((config, key), for_retry) in configs.into_iter().zip(keys).zip(for_retry) {
        store.add(config, key, for_retry)?;
    }
    // SAFETY: both are live, and the connection takes a copy.
    succeeded(unsafe { SSL_set1_echstore(ssl.as_ptr(), store.0) })
}

/// Records the name for which a certificate is verified in place of the server's, if there is one: the public name,
/// where the server rejected.
pub(crate) fn record_name(ssl: &SslRef) {
    let (status, name) = status(ssl);
    if REJECTED.contains(&status) {
        state().public_name = name;
    }
}

/// Compares the outcome of a handshake with the test's expectations.
pub(crate) fn check(ssl: &SslRef, options: &Options) -> Result<(), Failure> {
    let accepted = ACCEPTED.contains(&status(ssl).0);
    let want = options.on("-expect-ech-accept");
    same("ECH accepted:", accepted, want)?;
    let rejects = options.on("-expect-no-ech-retry-configs")
        || options.bytes("-expect-ech-retry-configs").is_some();
    ensure(!rejects, || "ECH was not rejected")?;
    check_name(options)
}

/// Compares the outcome of a handshake that failed with the test's expectations.
pub(crate) fn check_failed(ssl: &SslRef, options: &Options, said: &str) -> Result<(), Failure> {
    check_name(options)?;
    if !said.contains(ECH_REQUIRED) {
        return Ok(());
    }
    let configs = retry_configs(ssl);
    if let Some(want) = options.bytes("-expect-ech-retry-configs") {
        ensure(configs == want, || {
            format!("ECH retry configurations {configs:02x?}, expected {want:02x?}")
        })?;
    }
    let none = options.on("-expect-no-ech-retry-configs");
    ensure(!none || configs.is_empty(), || "ECH retry configurations")
}

fn check_name(options: &Options) -> Result<(), Failure> {
    let got = state().public_name.clone();
    if let Some(want) = options.text("-expect-ech-name-override") {
        ensure(got.as_ref() == Some(&want), || {
            format!("verified for the public name {got:?}, expected {want:?}")
        })?;
    }
    let none = options.on("-expect-no-ech-name-override");
    ensure(!none || got.is_none(), || {
        format!("verified for the public name {got:?}")
    })
}

/// Returns the library's status, and the name of the outer hello.
fn status(ssl: &SslRef) -> (c_int, Option<String>) {
    let (mut inner, mut outer) = (ptr::null_mut(), ptr::null_mut());
    // SAFETY: the connection is live, and both pointers are to pointers that the function sets.
    let status = unsafe { SSL_ech_get1_status(ssl.as_ptr(), &raw mut inner, &raw mut outer) };
    // The function may leave errors, which would be read as those of the next operation.
    drop(ErrorStack::get());
    let name = ffi::text(outer);
    for name in [inner, outer] {
        // SAFETY: the function allocated the names, or left null.
        unsafe { openssl_sys::OPENSSL_free(name.cast()) };
    }
    (status, name)
}

fn retry_configs(ssl: &SslRef) -> Vec<u8> {
    let (mut list, mut length) = (ptr::null_mut(), 0);
    // SAFETY: the connection is live; the function sets both values.
    let result = unsafe { SSL_ech_get1_retry_config(ssl.as_ptr(), &raw mut list, &raw mut length) };
    drop(ErrorStack::get());
    if result != 1 {
        return Vec::new();
    }
    let configs = ffi::bytes(list, length).to_vec();
    // SAFETY: the function allocated the list, or left null.
    unsafe { openssl_sys::OPENSSL_free(list.cast()) };
    configs
}

/// A server's keys.
struct Store(*mut EchStore);

impl Store {
    fn new() -> Result<Self, Failure> {
        // SAFETY: null is the default of both.
        let store = unsafe { OSSL_ECHSTORE_new(ptr::null_mut(), ptr::null()) };
        if store.is_null() {
            return Err(library(ErrorStack::get()));
        }
        Ok(Self(store))
    }

    /// Adds a configuration with its private key of X25519.
    fn add(&self, config: &[u8], key: &[u8], for_retry: i64) -> Result<(), Failure> {
        let key = PKey::private_key_from_raw_bytes(key, Id::X25519)
            .map_err(|_| Failure::unsupported("ECH with a key that is not of X25519"))?;
        let pem = pem(config)?;
        let length = c_int::try_from(pem.len()).unwrap_or(c_int::MAX);
        // SAFETY: the text outlives the BIO, which reads it alone; the store copies both.
        let result = unsafe {
            let bio = openssl_sys::BIO_new_mem_buf(pem.as_ptr().cast(), length);
            let result = OSSL_ECHSTORE_set1_key_and_read_pem(
                self.0,
                key.as_ptr(),
                bio,
                c_int::from(for_retry != 0),
            );
            openssl_sys::BIO_free_all(bio);
            result
        };
        succeeded(result)
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        // SAFETY: the store is live, and not used any more.
        unsafe { OSSL_ECHSTORE_free(self.0) };
    }
}

/// Returns the PEM of a list with one configuration.
fn pem(config: &[u8]) -> Result<String, Failure> {
    let length = u16::try_from(config.len());
    let length = length.map_err(|_| Failure::unsupported("a configuration of over 64 KiB"))?;
    let list = [&length.to_be_bytes(), config].concat();
    let text = STANDARD.encode(list);
    let mut pem = "-----BEGIN ECHCONFIG-----\n".to_owned();
    for line in text.as_bytes().chunks(64) {
        pem.push_str(&String::from_utf8_lossy(line));
        pem.push('\n');
    }
    pem.push_str("-----END ECHCONFIG-----\n");
    Ok(pem)
}
