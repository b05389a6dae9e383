//! Operations that OpenSSL 1.1.1 does by other calls than OpenSSL 3, or does not support.

use std::{
    ffi::{c_int, c_void},
    ptr,
};

use foreign_types_shared::{ForeignType, ForeignTypeRef};
use netbench_libssl::Side;
use netbench_tls::{CipherSuite, CipherSuiteFacts, Group};
use openssl::{
    error::ErrorStack,
    nid::Nid,
    pkey::{HasPrivate, HasPublic, Id, PKey, PKeyRef, Private, Public},
    pkey_ctx::PkeyCtx,
    ssl::SslRef,
};
use openssl_sys::EVP_PKEY;

use crate::names;

/// `SSL_CTRL_GET_PEER_TMP_KEY` of openssl/ssl.h.
const GET_PEER_TMP_KEY: c_int = 109;

/// `SSL_CTRL_GET_SHARED_GROUP` of openssl/ssl.h.
const GET_SHARED_GROUP: c_int = 93;

/// `NID_X25519` of openssl/obj_mac.h.
const X25519: Nid = Nid::from_raw(1034);

/// Returns the group of the handshake's key exchange, if there was one: that of the peer's key. A server of
/// TLS 1.2 does not keep that key; it uses the first common group.
pub(crate) fn group(ssl: &SslRef, side: Side) -> Option<Group> {
    if let Some(key) = peer_key(ssl) {
        return group_of_key(&key);
    }
    let suite = ssl.current_cipher().map(names::cipher_suite);
    let facts = suite.and_then(CipherSuite::facts);
    if side == Side::Client || !facts.is_some_and(is_ecdhe) {
        return None;
    }
    // SAFETY: the connection is live; this control takes no pointer.
    let nid = unsafe { openssl_sys::SSL_ctrl(ssl.as_ptr(), GET_SHARED_GROUP, 0, ptr::null_mut()) };
    group_of_curve(Nid::from_raw(nid.try_into().ok()?))
}

fn is_ecdhe(facts: &CipherSuiteFacts) -> bool {
    facts.key_exchange == netbench_tls::KeyExchange::Ecdhe
}

/// Returns the public key that the peer sent.
fn peer_key(ssl: &SslRef) -> Option<PKey<Public>> {
    let mut key: *mut EVP_PKEY = ptr::null_mut();
    let to = (&raw mut key).cast::<c_void>();
    // SAFETY: the connection is live, and this control writes a pointer to a key, which is then owned here.
    let has_key = unsafe { openssl_sys::SSL_ctrl(ssl.as_ptr(), GET_PEER_TMP_KEY, 0, to) };
    if has_key != 1 || key.is_null() {
        return None;
    }
    // SAFETY: the pointer is not null, and owned here.
    Some(unsafe { PKey::from_ptr(key) })
}

fn group_of_key(key: &PKeyRef<Public>) -> Option<Group> {
    match key.id() {
        Id::X25519 => Some(Group::X25519),
        Id::EC => group_of_curve(key.ec_key().ok()?.group().curve_name()?),
        _ => None,
    }
}

fn group_of_curve(curve: Nid) -> Option<Group> {
    match curve {
        X25519 => Some(Group::X25519),
        Nid::X9_62_PRIME256V1 => Some(Group::SECP256R1),
        // The other kinds have their registered names.
        other => other.short_name().ok()?.parse().ok(),
    }
}

/// Returns a group's name for `SSL_CTX_set1_groups_list`.
pub(crate) fn group_name(group: Group) -> String {
    match group {
        Group::X25519 => "X25519".to_owned(),
        Group::SECP256R1 => "P-256".to_owned(),
        other => other.to_string(),
    }
}

/// Makes a key pair of the kind of `group`'s shares.
///
/// # Errors
/// Returns an error if the library does not support the group.
pub(crate) fn key_pair(group: Group) -> Result<PKey<Private>, ErrorStack> {
    let (kind, curve) = match group {
        Group::SECP256R1 => (Id::EC, Some(Nid::X9_62_PRIME256V1)),
        Group::SECP384R1 => (Id::EC, Some(Nid::SECP384R1)),
        Group::X25519 => (Id::X25519, None),
        // The number is that of no kind of key, which the library refuses.
        _ => (Id::from_raw(0), None),
    };
    let mut maker = PkeyCtx::new_id(kind)?;
    maker.keygen_init()?;
    if let Some(curve) = curve {
        maker.set_ec_paramgen_curve_nid(curve)?;
    }
    maker.keygen()
}

/// Always fails: the library has no key encapsulation, and no group that needs it has a key pair here.
pub(crate) fn encapsulate<T: HasPublic>(_: &PKeyRef<T>) -> Result<(Vec<u8>, Vec<u8>), ErrorStack> {
    Err(ErrorStack::get())
}

/// Always fails: see [`encapsulate`].
pub(crate) fn decapsulate<T: HasPrivate>(_: &PKeyRef<T>, _: &[u8]) -> Result<Vec<u8>, ErrorStack> {
    Err(ErrorStack::get())
}
