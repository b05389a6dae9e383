//! Operations that OpenSSL 3 and later do by other calls than OpenSSL 1.1.1.

use std::{
    ffi::{CStr, CString, c_char, c_int, c_long},
    ptr,
};

use foreign_types_shared::{ForeignType, ForeignTypeRef};
use netbench_libssl::{Side, good};
use netbench_tls::Group;
use openssl::{
    error::ErrorStack,
    pkey::{HasPrivate, HasPublic, PKey, PKeyRef, Private},
    pkey_ctx::PkeyCtx,
    ssl::SslRef,
};
use openssl_sys::{EVP_PKEY_CTX, SSL};

/// `SSL_CTRL_GET_NEGOTIATED_GROUP` of openssl/ssl.h.
const GET_NEGOTIATED_GROUP: c_int = 134;

unsafe extern "C" {
    fn SSL_group_to_name(ssl: *mut SSL, id: c_int) -> *const c_char;
    fn EVP_PKEY_CTX_set_group_name(ctx: *mut EVP_PKEY_CTX, name: *const c_char) -> c_int;
}

/// Returns the group of the handshake's key exchange, if there was one. OpenSSL reports its
/// registered name.
pub(crate) fn group(ssl: &SslRef, _: Side) -> Option<Group> {
    // SAFETY: the connection is live; this control takes no pointer.
    let id =
        unsafe { openssl_sys::SSL_ctrl(ssl.as_ptr(), GET_NEGOTIATED_GROUP, 0, ptr::null_mut()) };
    let id: c_int = c_long::try_into(id).ok().filter(|id| *id != 0)?;
    // SAFETY: the connection is live; the result is a static string or null.
    let name = unsafe { SSL_group_to_name(ssl.as_ptr(), id) };
    if name.is_null() {
        return None;
    }
    // SAFETY: the pointer is not null, and to a C string that lives as long as the library.
    let name = unsafe { CStr::from_ptr(name) };
    name.to_str().ok()?.parse().ok()
}

/// Returns a group's name for `SSL_CTX_set1_groups_list`.
pub(crate) fn group_name(group: Group) -> String {
    match group {
        Group::X25519 => "X25519".to_owned(),
        other => other.to_string(),
    }
}

/// Makes a key pair of the kind of `group`'s shares.
///
/// # Errors
/// Returns an error if the library does not support the group.
pub(crate) fn key_pair(group: Group) -> Result<PKey<Private>, ErrorStack> {
    let curve = match group {
        Group::SECP256R1 => Some(c"P-256"),
        Group::SECP384R1 => Some(c"P-384"),
        _ => None,
    };
    let mut maker = match curve {
        Some(_) => maker(c"EC")?,
        None => maker(&CString::new(group.to_string()).unwrap_or_default())?,
    };
    maker.keygen_init()?;
    if let Some(curve) = curve {
        // SAFETY: the context is live, and the name has static lifetime.
        good(unsafe { EVP_PKEY_CTX_set_group_name(maker.as_ptr(), curve.as_ptr()) })?;
    }
    maker.keygen()
}

fn maker(kind: &CStr) -> Result<PkeyCtx<()>, ErrorStack> {
    // SAFETY: the name has static lifetime; the default library context and properties are used.
    let context = unsafe {
        openssl_sys::EVP_PKEY_CTX_new_from_name(ptr::null_mut(), kind.as_ptr(), ptr::null())
    };
    if context.is_null() {
        return Err(ErrorStack::get());
    }
    // SAFETY: the pointer is not null, and owned here.
    Ok(unsafe { PkeyCtx::from_ptr(context) })
}

/// Returns the message that a server sends, and the secret.
pub(crate) fn encapsulate<T: HasPublic>(
    peer: &PKeyRef<T>,
) -> Result<(Vec<u8>, Vec<u8>), ErrorStack> {
    let context = PkeyCtx::new(peer)?;
    let (mut wrapped_length, mut secret_length) = (0, 0);
    // SAFETY: the context is live; without buffers, only the lengths are written.
    unsafe {
        good(openssl_sys::EVP_PKEY_encapsulate_init(
            context.as_ptr(),
            ptr::null(),
        ))?;
        good(openssl_sys::EVP_PKEY_encapsulate(
            context.as_ptr(),
            ptr::null_mut(),
            &raw mut wrapped_length,
            ptr::null_mut(),
            &raw mut secret_length,
        ))?;
    }
    let (mut wrapped, mut secret) = (vec![0; wrapped_length], vec![0; secret_length]);
    // SAFETY: both buffers have the reported lengths.
    good(unsafe {
        openssl_sys::EVP_PKEY_encapsulate(
            context.as_ptr(),
            wrapped.as_mut_ptr(),
            &raw mut wrapped_length,
            secret.as_mut_ptr(),
            &raw mut secret_length,
        )
    })?;
    wrapped.truncate(wrapped_length);
    secret.truncate(secret_length);
    Ok((wrapped, secret))
}

/// Returns the secret of a server's message.
pub(crate) fn decapsulate<T: HasPrivate>(
    own: &PKeyRef<T>,
    wrapped: &[u8],
) -> Result<Vec<u8>, ErrorStack> {
    let context = PkeyCtx::new(own)?;
    let mut length = 0;
    // SAFETY: the context is live; without a buffer, only the length is written.
    unsafe {
        good(openssl_sys::EVP_PKEY_decapsulate_init(
            context.as_ptr(),
            ptr::null(),
        ))?;
        good(openssl_sys::EVP_PKEY_decapsulate(
            context.as_ptr(),
            ptr::null_mut(),
            &raw mut length,
            wrapped.as_ptr(),
            wrapped.len(),
        ))?;
    }
    let mut secret = vec![0; length];
    // SAFETY: the buffer has the reported length.
    good(unsafe {
        openssl_sys::EVP_PKEY_decapsulate(
            context.as_ptr(),
            secret.as_mut_ptr(),
            &raw mut length,
            wrapped.as_ptr(),
            wrapped.len(),
        )
    })?;
    secret.truncate(length);
    Ok(secret)
}
