//! Functions for which the openssl crate has no safe wrapper, or none with AWS-LC.

use foreign_types_shared::ForeignTypeRef;
use netbench_libssl::good;
use netbench_tls::{CipherSuite, Group, SignatureScheme};
use openssl::{
    error::ErrorStack,
    ssl::{SslCipher, SslCipherRef, SslContextBuilder, SslRef},
    stack::StackRef,
};

/// Returns whether the library has the scheme.
pub(crate) fn has_scheme(scheme: SignatureScheme) -> bool {
    // SAFETY: the call reads a table of the library.
    let name = unsafe { openssl_sys::SSL_get_signature_algorithm_name(scheme.0, 1) };
    !name.is_null()
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
