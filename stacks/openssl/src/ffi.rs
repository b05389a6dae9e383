//! Calls that the openssl crate has no safe form of. Each takes a live `SslRef`.

use std::{
    ffi::{CStr, c_char, c_int, c_long, c_void},
    ptr,
};

use foreign_types_shared::ForeignTypeRef;
use openssl::ssl::{SslContextBuilder, SslRef};
use openssl_sys::{SSL, SSL_CTX, X509_STORE_CTX};

/// `SSL_CTRL_GET_NEGOTIATED_GROUP` of openssl/ssl.h.
const GET_NEGOTIATED_GROUP: c_int = 134;

/// `SSL_CTRL_GET_PEER_SIGNATURE_NID` of openssl/ssl.h.
const GET_PEER_SIGNATURE_NID: c_int = 108;

/// `SSL_CTRL_SET_DH_AUTO` of openssl/ssl.h.
const SET_DH_AUTO: c_int = 118;

/// A verification of a whole chain: 1 is good, 0 is not.
pub(crate) type VerifyCallback = extern "C" fn(*mut X509_STORE_CTX, *mut c_void) -> c_int;

unsafe extern "C" {
    fn SSL_CTX_set_cert_verify_callback(
        ctx: *mut SSL_CTX,
        callback: Option<VerifyCallback>,
        argument: *mut c_void,
    );
    fn SSL_group_to_name(ssl: *mut SSL, id: c_int) -> *const c_char;
    fn SSL_get_peer_signature_type_nid(ssl: *const SSL, nid: *mut c_int) -> c_int;
}

/// Has `callback` verify chains instead of `X509_verify_cert`, which it is to call.
pub(crate) fn set_cert_verify_callback(ctx: &mut SslContextBuilder, callback: VerifyCallback) {
    // SAFETY: the context is live, and a function lives for ever. The argument is not used.
    unsafe { SSL_CTX_set_cert_verify_callback(ctx.as_ptr(), Some(callback), ptr::null_mut()) }
}

/// Finite-field groups chosen by the strength of the key, for suites with DHE.
pub(crate) fn set_dh_auto(ctx: &mut SslContextBuilder) {
    // SAFETY: the context is live; this control takes no pointer.
    unsafe { openssl_sys::SSL_CTX_ctrl(ctx.as_ptr(), SET_DH_AUTO, 1, ptr::null_mut()) };
}

/// The name of the group that the handshake used, where it used one.
pub(crate) fn group(ssl: &SslRef) -> Option<String> {
    // SAFETY: the connection is live; this control takes no pointer.
    let id =
        unsafe { openssl_sys::SSL_ctrl(ssl.as_ptr(), GET_NEGOTIATED_GROUP, 0, ptr::null_mut()) };
    let id: c_int = c_long::try_into(id).ok().filter(|id| *id != 0)?;
    // SAFETY: the connection is live; the result is a static string or null.
    let name = unsafe { SSL_group_to_name(ssl.as_ptr(), id) };
    if name.is_null() {
        return None;
    }
    // SAFETY: not null, and a C string that lives as long as the library.
    Some(
        unsafe { CStr::from_ptr(name) }
            .to_string_lossy()
            .into_owned(),
    )
}

/// Hash and key type of the peer's handshake signature, as OpenSSL's NIDs.
pub(crate) fn peer_signature(ssl: &SslRef) -> Option<(c_int, c_int)> {
    let (mut hash, mut key): (c_int, c_int) = (0, 0);
    // SAFETY: the connection is live, and this control writes one int.
    let has_hash = unsafe {
        openssl_sys::SSL_ctrl(
            ssl.as_ptr(),
            GET_PEER_SIGNATURE_NID,
            0,
            (&raw mut hash).cast::<c_void>(),
        )
    };
    // SAFETY: the connection is live, and the call writes one int.
    let has_key = unsafe { SSL_get_peer_signature_type_nid(ssl.as_ptr(), &raw mut key) };
    (has_hash == 1 && has_key == 1).then_some((hash, key))
}
