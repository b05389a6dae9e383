//! The order in which a server prefers the suites of TLS 1.3. AWS-LC has a fixed order
//! (`ssl_choose_tls13_cipher`), so for each ClientHello the server is restricted to the suite that it should
//! choose.

use std::{
    ffi::{CString, c_int},
    slice,
    sync::OnceLock,
};

use foreign_types_shared::ForeignTypeRef;
use netbench_tls::CipherSuite;
use netbench_worker::made_once;
use openssl::{
    error::ErrorStack,
    ex_data::Index,
    ssl::{SslContext, SslContextBuilder, SslRef},
};
use openssl_sys::{SSL_CLIENT_HELLO, ssl_select_cert_result_t};

const GO_ON: ssl_select_cert_result_t = 1;

/// Makes a server choose the first of `suites` that the client offers too.
pub(crate) fn prefer(
    ssl: &mut SslContextBuilder,
    suites: &[CipherSuite],
) -> Result<(), ErrorStack> {
    let tls13 = suites.iter().copied().filter(|suite| suite.is_tls13());
    let tls13: Vec<_> = tls13.collect();
    if tls13.len() > 1 {
        ssl.set_ex_data(index()?, tls13);
        let callback: unsafe extern "C" fn(*const SSL_CLIENT_HELLO) -> c_int = choose;
        // SAFETY: the context is live, and a function has static lifetime.
        unsafe { openssl_sys::SSL_CTX_set_select_certificate_cb(ssl.as_ptr(), Some(callback)) };
    }
    Ok(())
}

/// Returns the index under which a context keeps its order.
fn index() -> Result<Index<SslContext, Vec<CipherSuite>>, ErrorStack> {
    static INDEX: OnceLock<Index<SslContext, Vec<CipherSuite>>> = OnceLock::new();
    made_once(&INDEX, SslContext::new_ex_index)
}

/// Restricts the suites. AWS-LC calls this function after it has received the ClientHello, before any choice.
unsafe extern "C" fn choose(hello: *const SSL_CLIENT_HELLO) -> c_int {
    // SAFETY: AWS-LC calls this function with a live ClientHello and its connection, which no other code uses
    // meanwhile.
    let (ssl, offered) = unsafe {
        let hello = &*hello;
        let offered = slice::from_raw_parts(hello.cipher_suites, hello.cipher_suites_len);
        (SslRef::from_ptr_mut(hello.ssl), offered)
    };
    let order = index().ok();
    let order = order.and_then(|index| ssl.ssl_context().ex_data(index));
    let has = |suite: &&CipherSuite| {
        let code = suite.0.to_be_bytes();
        offered.chunks_exact(2).any(|offered| offered == code)
    };
    let chosen = order.and_then(|order| order.iter().find(has));
    if let Some(name) = chosen.and_then(|suite| suite.name()) {
        let name = CString::new(name).unwrap_or_default();
        // SAFETY: the connection is live, and so is the text, which is only read. AWS-LC knows the name: the
        // context has the suite.
        unsafe { openssl_sys::SSL_set_ciphersuites(ssl.as_ptr(), name.as_ptr()) };
    }
    GO_ON
}
