//! Functions of newer releases, for a libssl that does not have them: each returns an empty result. A test
//! that requires such a function is refused before (`releases.rs`), or accepts that result.

#![expect(non_snake_case, reason = "the names are libssl's")]

use std::{
    ffi::{c_char, c_int, c_uchar, c_void},
    ptr::null_mut,
};

use openssl_sys::{BIO, EVP_PKEY, SSL};

use super::ffi::EchStore;

/// Defines functions that return a constant.
macro_rules! absent {
    ($($name:ident($($argument:ty),*) -> $result:ty = $value:expr;)*) => {
        $(pub(crate) unsafe fn $name($(_: $argument),*) -> $result {
            $value
        })*
    };
}

#[cfg(before_openssl_3_5)]
absent! {
    SSL_set_quic_tls_cbs(*mut SSL, *const super::quic_ffi::Function, *mut c_void) -> c_int = 0;
    SSL_set_quic_tls_transport_params(*mut SSL, *const c_uchar, usize) -> c_int = 0;
    SSL_set_quic_tls_early_data_enabled(*mut SSL, c_int) -> c_int = 0;
}

/// `SSL_ECH_STATUS_NOT_CONFIGURED` of openssl/ech.h.
const ECH_NOT_CONFIGURED: c_int = -103;

absent! {
    SSL_set1_ech_config_list(*mut SSL, *const c_uchar, usize) -> c_int = 0;
    SSL_ech_get1_status(*mut SSL, *mut *mut c_char, *mut *mut c_char) -> c_int = ECH_NOT_CONFIGURED;
    SSL_ech_get1_retry_config(*mut SSL, *mut *mut c_uchar, *mut usize) -> c_int = 0;
    OSSL_ECHSTORE_new(*mut c_void, *const c_char) -> *mut EchStore = null_mut();
    OSSL_ECHSTORE_free(*mut EchStore) -> () = ();
    OSSL_ECHSTORE_set1_key_and_read_pem(*mut EchStore, *mut EVP_PKEY, *mut BIO, c_int) -> c_int = 0;
    SSL_set1_echstore(*mut SSL, *mut EchStore) -> c_int = 0;
}

/// The certificate type X.509 (RFC 7250), which is also used without the extension.
#[cfg(before_openssl_3_2)]
const X509: c_int = 0;

#[cfg(before_openssl_3_2)]
absent! {
    SSL_set1_client_cert_type(*mut SSL, *const c_uchar, usize) -> c_int = 0;
    SSL_set1_server_cert_type(*mut SSL, *const c_uchar, usize) -> c_int = 0;
    SSL_get_negotiated_client_cert_type(*const SSL) -> c_int = X509;
    SSL_get_negotiated_server_cert_type(*const SSL) -> c_int = X509;
    SSL_get0_peer_rpk(*const SSL) -> *mut EVP_PKEY = null_mut();
}

#[cfg(before_openssl_3_2)]
unsafe extern "C" {
    fn SSL_group_to_name(ssl: *mut SSL, group: c_int) -> *const c_char;
}

/// Gets the name by two calls, which together are equivalent.
#[cfg(before_openssl_3_2)]
pub(crate) unsafe fn SSL_get0_group_name(ssl: *mut SSL) -> *const c_char {
    const NEGOTIATED_GROUP: c_int = 134;
    // SAFETY: the caller's connection is live, and the control takes no pointer.
    let group = unsafe { openssl_sys::SSL_ctrl(ssl, NEGOTIATED_GROUP, 0, null_mut()) };
    match c_int::try_from(group) {
        Ok(0) | Err(_) => std::ptr::null(),
        // SAFETY: the caller's connection is live.
        Ok(number) => unsafe { SSL_group_to_name(ssl, number) },
    }
}
