//! Functions of newer releases, for a libssl that does not have them: each returns an empty result. A test
//! that requires such a function is refused before (`releases.rs`), or accepts that result.

#![expect(non_snake_case, reason = "the names are libssl's")]

#[cfg(before_openssl_3_5)]
pub(super) use before_3_5::*;

#[cfg(before_openssl_3_5)]
mod before_3_5 {
    use std::ffi::{c_int, c_uchar, c_void};

    use openssl_sys::SSL;

    pub(in super::super) unsafe fn SSL_set_quic_tls_cbs<F>(
        _: *mut SSL,
        _: *const F,
        _: *mut c_void,
    ) -> c_int {
        0
    }

    pub(in super::super) unsafe fn SSL_set_quic_tls_transport_params(
        _: *mut SSL,
        _: *const c_uchar,
        _: usize,
    ) -> c_int {
        0
    }

    pub(in super::super) unsafe fn SSL_set_quic_tls_early_data_enabled(
        _: *mut SSL,
        _: c_int,
    ) -> c_int {
        0
    }
}

/// Encrypted ClientHello, for the module of that name.
pub(super) mod ech {
    use std::{
        ffi::{c_char, c_int, c_uchar, c_void},
        ptr,
    };

    use openssl_sys::{BIO, EVP_PKEY, SSL};

    use super::super::ffi::EchStore;

    /// `SSL_ECH_STATUS_NOT_CONFIGURED` of openssl/ech.h.
    const NOT_CONFIGURED: c_int = -103;

    pub(in super::super) unsafe fn SSL_set1_ech_config_list(
        _: *mut SSL,
        _: *const c_uchar,
        _: usize,
    ) -> c_int {
        0
    }

    pub(in super::super) unsafe fn SSL_ech_get1_status(
        _: *mut SSL,
        _: *mut *mut c_char,
        _: *mut *mut c_char,
    ) -> c_int {
        NOT_CONFIGURED
    }

    pub(in super::super) unsafe fn SSL_ech_get1_retry_config(
        _: *mut SSL,
        _: *mut *mut c_uchar,
        _: *mut usize,
    ) -> c_int {
        0
    }

    pub(in super::super) unsafe fn OSSL_ECHSTORE_new(
        _: *mut c_void,
        _: *const c_char,
    ) -> *mut EchStore {
        ptr::null_mut()
    }

    pub(in super::super) unsafe fn OSSL_ECHSTORE_free(_: *mut EchStore) {}

    pub(in super::super) unsafe fn OSSL_ECHSTORE_set1_key_and_read_pem(
        _: *mut EchStore,
        _: *mut EVP_PKEY,
        _: *mut BIO,
        _: c_int,
    ) -> c_int {
        0
    }

    pub(in super::super) unsafe fn SSL_set1_echstore(_: *mut SSL, _: *mut EchStore) -> c_int {
        0
    }
}

#[cfg(before_openssl_3_2)]
pub(super) use before_3_2::*;

#[cfg(before_openssl_3_2)]
mod before_3_2 {
    use std::{
        ffi::{c_char, c_int, c_long, c_uchar},
        ptr,
    };

    use openssl_sys::{EVP_PKEY, SSL};

    unsafe extern "C" {
        fn SSL_group_to_name(ssl: *mut SSL, group: c_int) -> *const c_char;
    }

    /// Gets the name by two calls, which together are equivalent.
    pub(in super::super) unsafe fn SSL_get0_group_name(ssl: *mut SSL) -> *const c_char {
        const NEGOTIATED_GROUP: c_int = 134;
        const NONE: c_long = 0;
        // SAFETY: the caller's connection is live, and the control takes no pointer.
        let group = unsafe { openssl_sys::SSL_ctrl(ssl, NEGOTIATED_GROUP, 0, ptr::null_mut()) };
        match c_int::try_from(group) {
            // SAFETY: the caller's connection is live.
            Ok(number) if group != NONE => unsafe { SSL_group_to_name(ssl, number) },
            _ => ptr::null(),
        }
    }

    /// The certificate type X.509 (RFC 7250), which is also used without the extension.
    const X509: c_int = 0;

    pub(in super::super) unsafe fn SSL_set1_client_cert_type(
        _: *mut SSL,
        _: *const c_uchar,
        _: usize,
    ) -> c_int {
        0
    }

    pub(in super::super) unsafe fn SSL_set1_server_cert_type(
        _: *mut SSL,
        _: *const c_uchar,
        _: usize,
    ) -> c_int {
        0
    }

    pub(in super::super) unsafe fn SSL_get_negotiated_client_cert_type(_: *const SSL) -> c_int {
        X509
    }

    pub(in super::super) unsafe fn SSL_get_negotiated_server_cert_type(_: *const SSL) -> c_int {
        X509
    }

    pub(in super::super) unsafe fn SSL_get0_peer_rpk(_: *const SSL) -> *mut EVP_PKEY {
        ptr::null_mut()
    }
}
