//! Key exchange by libssl's calls (`ssl_generate_pkey_group` and similar functions in its `s3_lib.c`).

use std::{
    ffi::{c_int, c_uchar},
    ptr,
};

use foreign_types_shared::{ForeignType, ForeignTypeRef};
use netbench_libssl::good;
use netbench_tls::Group;
use netbench_worker::{Exchange, ExchangeCalls, KeyExchange, SetupError};
use openssl::{
    error::ErrorStack,
    pkey::{HasPrivate, HasPublic, PKey, PKeyRef, Private, Public},
    pkey_ctx::PkeyCtx,
};
use openssl_sys::EVP_PKEY;

use crate::line::{decapsulate, encapsulate, key_pair};

unsafe extern "C" {
    #[cfg_attr(before_openssl_3, link_name = "EVP_PKEY_get1_tls_encodedpoint")]
    fn EVP_PKEY_get1_encoded_public_key(key: *mut EVP_PKEY, encoded: *mut *mut c_uchar) -> usize;
    #[cfg_attr(before_openssl_3, link_name = "EVP_PKEY_set1_tls_encodedpoint")]
    fn EVP_PKEY_set1_encoded_public_key(
        key: *mut EVP_PKEY,
        encoded: *const c_uchar,
        length: usize,
    ) -> c_int;
}

/// Makes a key exchange in a group.
pub(crate) fn exchange(group: Group) -> Result<Box<dyn KeyExchange>, SetupError> {
    key_pair(group).map_err(|_| SetupError::Unsupported(format!("no {group} in this OpenSSL")))?;
    let calls = ExchangeCalls {
        start: |group: &Group| {
            let key = key_pair(*group)?;
            Ok((encoded(&key)?, key))
        },
        respond,
        agree,
        secrets: |client, (_, server)| [client, server],
    };
    Ok(Box::new(Exchange::new(group, calls)))
}

/// A client's share, and its key.
type Client = (Vec<u8>, PKey<Private>);

/// A server's message, and its secret.
type Server = (Vec<u8>, Vec<u8>);

fn respond(group: &Group, (share, key): &Client) -> Result<Server, ErrorStack> {
    let client = peer(key, share)?;
    if is_kem(*group) {
        return encapsulate(&client);
    }
    let own = key_pair(*group)?;
    Ok((encoded(&own)?, derive(&own, &client)?))
}

fn agree(
    group: &Group,
    client: Client,
    (message, _): &Server,
) -> Result<(Option<Client>, Vec<u8>), ErrorStack> {
    let (_, key) = &client;
    let secret = if is_kem(*group) {
        decapsulate(key, message)?
    } else {
        derive(key, &*peer(key, message)?)?
    };
    Ok((Some(client), secret))
}

fn is_kem(group: Group) -> bool {
    group == Group::X25519MLKEM768
}

/// Returns the public key in the format of a key share.
fn encoded<T: HasPublic>(key: &PKeyRef<T>) -> Result<Vec<u8>, ErrorStack> {
    let mut start = ptr::null_mut();
    // SAFETY: the key is live, and `start` is written where the result is not 0.
    let length = unsafe { EVP_PKEY_get1_encoded_public_key(key.as_ptr(), &raw mut start) };
    if length == 0 || start.is_null() {
        return Err(ErrorStack::get());
    }
    // SAFETY: `length` bytes were written there.
    let copy = unsafe { std::slice::from_raw_parts(start, length) }.to_vec();
    // SAFETY: OpenSSL allocated them for the caller, and they are no longer referenced.
    unsafe { openssl_sys::OPENSSL_free(start.cast()) };
    Ok(copy)
}

/// Returns the peer's public key, of the kind of `own`.
fn peer<T: HasPublic>(own: &PKeyRef<T>, encoded: &[u8]) -> Result<PKey<Public>, ErrorStack> {
    // SAFETY: the call allocates a key, or returns null.
    let key = unsafe { openssl_sys::EVP_PKEY_new() };
    if key.is_null() {
        return Err(ErrorStack::get());
    }
    // SAFETY: the pointer is not null, and owned here.
    let key = unsafe { PKey::<Public>::from_ptr(key) };
    // SAFETY: both keys are live.
    good(unsafe { openssl_sys::EVP_PKEY_copy_parameters(key.as_ptr(), own.as_ptr()) })?;
    // SAFETY: the key is live, and so are the bytes, which are copied.
    good(unsafe {
        EVP_PKEY_set1_encoded_public_key(key.as_ptr(), encoded.as_ptr(), encoded.len())
    })?;
    Ok(key)
}

/// Derives the secret of a Diffie-Hellman exchange.
fn derive<T: HasPrivate, U: HasPublic>(
    own: &PKeyRef<T>,
    peer: &PKeyRef<U>,
) -> Result<Vec<u8>, ErrorStack> {
    let mut context = PkeyCtx::new(own)?;
    context.derive_init()?;
    context.derive_set_peer(peer)?;
    let mut secret = Vec::new();
    context.derive_to_vec(&mut secret)?;
    Ok(secret)
}
