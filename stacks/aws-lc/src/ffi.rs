//! Functions for which the openssl crate has no safe wrapper, or none with AWS-LC.

use std::{
    ffi::{CStr, c_int, c_void},
    ptr,
};

use foreign_types_shared::ForeignTypeRef;
use netbench_libssl::{VerifyCallback, good};
use netbench_tls::{CipherSuite, Group, SignatureScheme};
use openssl::{
    error::ErrorStack,
    ssl::{SslCipher, SslCipherRef, SslContextBuilder, SslRef},
    stack::StackRef,
    x509::{X509CrlRef, X509StoreContextRef, store::X509StoreBuilderRef},
};
use openssl_sys::X509_STORE_CTX;

/// Makes `callback` verify chains instead of `X509_verify_cert`, which the callback must call.
pub(crate) fn set_cert_verify_callback(ctx: &mut SslContextBuilder, callback: VerifyCallback) {
    let callback: unsafe extern "C" fn(*mut X509_STORE_CTX, *mut c_void) -> c_int = callback;
    // SAFETY: the context is live, a function has static lifetime, and the argument is not used.
    unsafe {
        openssl_sys::SSL_CTX_set_cert_verify_callback(
            ctx.as_ptr(),
            Some(callback),
            ptr::null_mut(),
        );
    }
}

/// Sets up a verification context as libssl does for the client `ssl`: the purpose of a server's certificate,
/// and the parameters of `ssl`, including its host.
pub(crate) fn set_as_client(
    context: &mut X509StoreContextRef,
    ssl: &SslRef,
) -> Result<(), ErrorStack> {
    // SAFETY: both are live. The context owns its parameters, and copies those of `ssl`.
    unsafe {
        good(openssl_sys::X509_STORE_CTX_set_default(
            context.as_ptr(),
            c"ssl_server".as_ptr(),
        ))?;
        good(openssl_sys::X509_VERIFY_PARAM_set1(
            openssl_sys::X509_STORE_CTX_get0_param(context.as_ptr()),
            openssl_sys::SSL_get0_param(ssl.as_ptr()),
        ))
    }
}

/// Adds a list of revoked certificates, of which the store then holds a reference.
pub(crate) fn add_crl(store: &mut X509StoreBuilderRef, crl: &X509CrlRef) -> Result<(), ErrorStack> {
    // SAFETY: both are live.
    good(unsafe { openssl_sys::X509_STORE_add_crl(store.as_ptr(), crl.as_ptr()) })
}

/// Restricts a context to these suites of TLS 1.3, given by their registered names separated by colons.
pub(crate) fn set_ciphersuites(
    ctx: &mut SslContextBuilder,
    names: &CStr,
) -> Result<(), ErrorStack> {
    // SAFETY: the context is live, and so is the text, which is read.
    good(unsafe { openssl_sys::SSL_CTX_set_ciphersuites(ctx.as_ptr(), names.as_ptr()) })
}

/// Restricts the peer's schemes to `schemes`, in this order.
pub(crate) fn set_schemes(
    ctx: &mut SslContextBuilder,
    schemes: &[SignatureScheme],
) -> Result<(), ErrorStack> {
    let codes: Vec<u16> = schemes.iter().map(|scheme| scheme.0).collect();
    // SAFETY: the context is live, and so are the code points, which are copied.
    good(unsafe {
        openssl_sys::SSL_CTX_set_verify_algorithm_prefs(ctx.as_ptr(), codes.as_ptr(), codes.len())
    })
}

/// Returns whether the library has the scheme.
pub(crate) fn has_scheme(scheme: SignatureScheme) -> bool {
    // SAFETY: the call reads a table of the library.
    let name = unsafe { openssl_sys::SSL_get_signature_algorithm_name(scheme.0, 1) };
    !name.is_null()
}

/// Sets the number of tickets that a server of TLS 1.3 sends after a handshake.
pub(crate) fn set_tickets(ctx: &mut SslContextBuilder, tickets: usize) -> Result<(), ErrorStack> {
    // SAFETY: the context is live.
    good(unsafe { openssl_sys::SSL_CTX_set_num_tickets(ctx.as_ptr(), tickets) })
}

/// Limits records to `bytes` of plaintext. AWS-LC would take the nearest length that it supports.
pub(crate) fn set_max_send_fragment(
    ctx: &mut SslContextBuilder,
    bytes: u16,
) -> Result<(), &'static str> {
    const RANGE: &str = "AWS-LC takes 512 to 16,384 bytes";
    if !(512..=16_384).contains(&bytes) {
        return Err(RANGE);
    }
    // SAFETY: the context is live.
    let result = unsafe { openssl_sys::SSL_CTX_set_max_send_fragment(ctx.as_ptr(), bytes.into()) };
    good(result).map_err(|_| RANGE)
}

/// Sets the response that a server sends where its client requests the status of its certificate.
pub(crate) fn set_ocsp_response(ssl: &mut SslRef, response: &[u8]) -> Result<(), ErrorStack> {
    // SAFETY: the connection is live, and so are the bytes, which are copied.
    good(unsafe {
        openssl_sys::SSL_set_ocsp_response(ssl.as_ptr(), response.as_ptr(), response.len())
    })
}

/// Returns the group of the handshake's key exchange, if there was one.
pub(crate) fn group(ssl: &SslRef) -> Option<Group> {
    // SAFETY: the connection is live.
    let code = unsafe { openssl_sys::SSL_get_group_id(ssl.as_ptr()) };
    (code != 0).then_some(Group(code))
}

/// Returns the scheme of the peer's handshake signature, if the peer signed.
pub(crate) fn peer_signature(ssl: &SslRef) -> Option<SignatureScheme> {
    // SAFETY: the connection is live.
    let code = unsafe { openssl_sys::SSL_get_peer_signature_algorithm(ssl.as_ptr()) };
    (code != 0).then_some(SignatureScheme(code))
}

/// Returns the suites that a context can use.
pub(crate) fn suites(ctx: &SslContextBuilder) -> Vec<CipherSuite> {
    // SAFETY: the context is live.
    let stack = unsafe { openssl_sys::SSL_CTX_get_ciphers(ctx.as_ptr()) };
    if stack.is_null() {
        return Vec::new();
    }
    // SAFETY: the pointer is not null; the context owns the stack, which is not changed before it has been
    // read here.
    let stack = unsafe { StackRef::<SslCipher>::from_ptr(stack) };
    stack.iter().map(suite).collect()
}

/// Returns a suite's code point.
pub(crate) fn suite(cipher: &SslCipherRef) -> CipherSuite {
    // SAFETY: the cipher is live.
    CipherSuite(unsafe { openssl_sys::SSL_CIPHER_get_protocol_id(cipher.as_ptr()) })
}

/// Makes an empty write.
pub(crate) fn write_nothing(ssl: &SslRef) -> Result<(), ErrorStack> {
    // SAFETY: the connection is live, and no bytes are read.
    match unsafe { openssl_sys::SSL_write(ssl.as_ptr(), ptr::null(), 0) } {
        result if result < 0 => Err(ErrorStack::get()),
        _ => Ok(()),
    }
}
