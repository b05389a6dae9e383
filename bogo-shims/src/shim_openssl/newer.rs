//! Functions of newer releases. With a libssl that does not have them, each returns an empty result: a test that requires
//! such a function is refused before (`releases.rs`), or accepts that result.

#![cfg_attr(
    before_openssl_4_0,
    expect(non_snake_case, reason = "the names are libssl's")
)]

use std::ffi::{c_char, c_int, c_uchar, c_void};
#[cfg(before_openssl_4_0)]
use std::ptr::null_mut;

use openssl_sys::{BIO, EVP_PKEY, SSL};

use super::{ffi::EchStore, quic_ffi::Function};

/// Declares functions, each with the result before the release that introduced them.
macro_rules! newer {
    ($before:ident: $($name:ident($($argument:ident: $type:ty),*) -> $result:ty, else $empty:expr;)*) => {
        $(
            #[cfg(not($before))]
            unsafe extern "C" {
                pub(super) fn $name($($argument: $type),*) -> $result;
            }

            #[cfg($before)]
            pub(super) unsafe fn $name($(_: $type),*) -> $result {
                $empty
            }
        )*
    };
}

newer! { before_openssl_3_2:
    SSL_set1_client_cert_type(ssl: *mut SSL, types: *const c_uchar, length: usize) -> c_int, else 0;
    SSL_set1_server_cert_type(ssl: *mut SSL, types: *const c_uchar, length: usize) -> c_int, else 0;
    // The certificate type X.509 (RFC 7250), which is also used without the extension.
    SSL_get_negotiated_client_cert_type(ssl: *const SSL) -> c_int, else 0;
    SSL_get_negotiated_server_cert_type(ssl: *const SSL) -> c_int, else 0;
    SSL_get0_peer_rpk(ssl: *const SSL) -> *mut EVP_PKEY, else null_mut();
}

newer! { before_openssl_3_5:
    SSL_set_quic_tls_cbs(ssl: *mut SSL, functions: *const Function, argument: *mut c_void) -> c_int, else 0;
    SSL_set_quic_tls_transport_params(ssl: *mut SSL, params: *const c_uchar, length: usize) -> c_int, else 0;
    SSL_set_quic_tls_early_data_enabled(ssl: *mut SSL, enabled: c_int) -> c_int, else 0;
}

newer! { before_openssl_4_0:
    SSL_set1_ech_config_list(ssl: *mut SSL, list: *const c_uchar, length: usize) -> c_int, else 0;
    // `SSL_ECH_STATUS_NOT_CONFIGURED` of openssl/ech.h.
    SSL_ech_get1_status(ssl: *mut SSL, inner: *mut *mut c_char, outer: *mut *mut c_char) -> c_int, else -103;
    SSL_ech_get1_retry_config(ssl: *mut SSL, list: *mut *mut c_uchar, length: *mut usize) -> c_int, else 0;
    OSSL_ECHSTORE_new(context: *mut c_void, properties: *const c_char) -> *mut EchStore, else null_mut();
    OSSL_ECHSTORE_free(store: *mut EchStore) -> (), else ();
    OSSL_ECHSTORE_set1_key_and_read_pem(
        store: *mut EchStore, key: *mut EVP_PKEY, pem: *mut BIO, for_retry: c_int
    ) -> c_int, else 0;
    SSL_set1_echstore(ssl: *mut SSL, store: *mut EchStore) -> c_int, else 0;
}

#[cfg(not(before_openssl_3_2))]
pub(super) use openssl_sys::SSL_get0_group_name;

#[cfg(before_openssl_3_2)]
unsafe extern "C" {
    fn SSL_group_to_name(ssl: *mut SSL, group: c_int) -> *const c_char;
}

/// Gets the name by two calls, which together are equivalent.
#[cfg(before_openssl_3_2)]
pub(super) unsafe fn SSL_get0_group_name(ssl: *mut SSL) -> *const c_char {
    const NEGOTIATED_GROUP: c_int = 134;
    // SAFETY: the caller's connection is live, and the control takes no pointer.
    let group = unsafe { openssl_sys::SSL_ctrl(ssl, NEGOTIATED_GROUP, 0, null_mut()) };
    match c_int::try_from(group) {
        Ok(0) | Err(_) => std::ptr::null(),
        // SAFETY: the caller's connection is live.
        Ok(number) => unsafe { SSL_group_to_name(ssl, number) },
    }
}
