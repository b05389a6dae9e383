//! Functions for which the openssl crate has no safe wrapper.

use std::{
    ffi::{CStr, c_char, c_int, c_uint, c_void},
    ptr,
};

use foreign_types_shared::ForeignTypeRef;
use netbench_libssl::{Side, VerifyCallback, good};
use netbench_tls::CipherSuite;
use openssl::{
    error::ErrorStack,
    ssl::{SslCipher, SslContextBuilder, SslRef},
    stack::StackRef,
};
use openssl_sys::{
    SSL, SSL_CTX, X509_CRL, X509_STORE, X509_STORE_CTX, X509_VERIFY_PARAM, stack_st_SSL_CIPHER,
};

use crate::names;

/// `SSL_CTRL_GET_PEER_SIGNATURE_NID` of openssl/ssl.h.
const GET_PEER_SIGNATURE_NID: c_int = 108;

/// `SSL_CTRL_GET_SIGNATURE_NID` of openssl/ssl.h.
const GET_SIGNATURE_NID: c_int = 132;

/// `SSL_CTRL_SET_DH_AUTO` of openssl/ssl.h.
const SET_DH_AUTO: c_int = 118;

/// `SSL_CTRL_SET_MAX_SEND_FRAGMENT` of openssl/ssl.h.
pub(crate) const SET_MAX_SEND_FRAGMENT: c_int = 52;

/// `OPENSSL_CPU_INFO` of openssl/crypto.h.
const CPU_INFO: c_int = 9;

unsafe extern "C" {
    fn SSL_CTX_set_cert_verify_callback(
        ctx: *mut SSL_CTX,
        callback: Option<VerifyCallback>,
        argument: *mut c_void,
    );
    fn SSL_set_session_id_context(ssl: *mut SSL, context: *const u8, length: c_uint) -> c_int;
    pub(crate) fn SSL_free_buffers(ssl: *mut SSL) -> c_int;
    fn SSL_get_peer_signature_type_nid(ssl: *const SSL, nid: *mut c_int) -> c_int;
    fn SSL_get_signature_type_nid(ssl: *const SSL, nid: *mut c_int) -> c_int;
    fn SSL_CTX_get_ciphers(ctx: *const SSL_CTX) -> *mut stack_st_SSL_CIPHER;
    pub(crate) fn X509_STORE_CTX_set_default(
        ctx: *mut X509_STORE_CTX,
        name: *const c_char,
    ) -> c_int;
    pub(crate) fn X509_STORE_CTX_get0_param(ctx: *mut X509_STORE_CTX) -> *mut X509_VERIFY_PARAM;
    pub(crate) fn X509_VERIFY_PARAM_set1(
        to: *mut X509_VERIFY_PARAM,
        from: *const X509_VERIFY_PARAM,
    ) -> c_int;
    pub(crate) fn X509_STORE_add_crl(store: *mut X509_STORE, crl: *mut X509_CRL) -> c_int;
}

/// Has a connection resume sessions of this context alone.
pub(crate) fn set_session_id_context(
    ssl: &mut SslRef,
    context: &[u8; 32],
) -> Result<(), ErrorStack> {
    // SAFETY: the connection is live, and the pointer is to as many bytes as are given, which are copied.
    good(unsafe { SSL_set_session_id_context(ssl.as_ptr(), context.as_ptr(), 32) })
}

/// The instructions that the library found in the processor, as it says them.
pub(crate) fn cpu_settings() -> String {
    // SAFETY: the result is a static string for every argument.
    let text = unsafe { CStr::from_ptr(openssl_sys::OpenSSL_version(CPU_INFO)) };
    text.to_string_lossy().into_owned()
}

/// Makes `callback` verify chains instead of `X509_verify_cert`, which the callback must call.
///
/// # Safety
/// The context is live. It may have no Rust owner yet.
pub(crate) unsafe fn set_cert_verify_callback(ctx: *mut SSL_CTX, callback: VerifyCallback) {
    // SAFETY: a function has static lifetime, and the argument is not used.
    unsafe { SSL_CTX_set_cert_verify_callback(ctx, Some(callback), ptr::null_mut()) }
}

/// Makes the library choose finite-field groups by the strength of the key, for suites with DHE.
pub(crate) fn set_dh_auto(ctx: &mut SslContextBuilder) {
    // SAFETY: the context is live; this control takes no pointer.
    unsafe { openssl_sys::SSL_CTX_ctrl(ctx.as_ptr(), SET_DH_AUTO, 1, ptr::null_mut()) };
}

/// Returns hash and key type of the server's handshake signature, as OpenSSL's NIDs.
pub(crate) fn server_signature(ssl: &SslRef, side: Side) -> Option<(c_int, c_int)> {
    let (mut hash, mut key): (c_int, c_int) = (0, 0);
    let control = match side {
        Side::Client => GET_PEER_SIGNATURE_NID,
        Side::Server => GET_SIGNATURE_NID,
    };
    // SAFETY: the connection is live, and both controls write one int.
    let has_hash = unsafe {
        openssl_sys::SSL_ctrl(ssl.as_ptr(), control, 0, (&raw mut hash).cast::<c_void>())
    };
    // SAFETY: the connection is live, and both calls write one int.
    let has_key = unsafe {
        match side {
            Side::Client => SSL_get_peer_signature_type_nid(ssl.as_ptr(), &raw mut key),
            Side::Server => SSL_get_signature_type_nid(ssl.as_ptr(), &raw mut key),
        }
    };
    (has_hash == 1 && has_key == 1).then_some((hash, key))
}

/// Returns the suites that a context can use.
pub(crate) fn suites(ctx: &SslContextBuilder) -> Vec<CipherSuite> {
    // SAFETY: the context is live.
    let stack = unsafe { SSL_CTX_get_ciphers(ctx.as_ptr()) };
    if stack.is_null() {
        return Vec::new();
    }
    // SAFETY: the pointer is not null; the context owns the stack, which is not changed before it has been
    // read here.
    let stack = unsafe { StackRef::<SslCipher>::from_ptr(stack) };
    stack.iter().map(names::cipher_suite).collect()
}
