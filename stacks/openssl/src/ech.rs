//! Encrypted ClientHello (RFC 9849), for which the openssl crate has no wrapper.

mod server;

use std::{
    ffi::{c_char, c_int, c_uchar},
    ptr, slice,
};

use foreign_types_shared::ForeignTypeRef;
use netbench_libssl::{good, probe_of};
use netbench_protocol::{Ech, Operation};
use netbench_tls::EchStatus;
use netbench_worker::{ClientSetup, SetupError};
use openssl::{
    error::ErrorStack,
    ssl::{SslContextBuilder, SslRef},
};
use openssl_sys::{SSL, SSL_CTX};

pub(crate) use server::{served, set_keys};

/// The operations of clients whose library has it.
pub(crate) const OF_CLIENTS: &[Operation] = &[Operation::Ech, Operation::EchGrease];

/// The operation of servers whose library has it.
pub(crate) const OF_SERVERS: &[Operation] = &[Operation::ServesEch];

/// `SSL_OP_ECH_GREASE` of openssl/ssl.h.
const GREASE: u64 = 1 << 37;

/// `SSL_ECH_STATUS_SUCCESS`, `SSL_ECH_STATUS_GREASE` and `SSL_ECH_STATUS_GREASE_ECH` of openssl/ech.h.
const SUCCESS: c_int = 1;
const GREASED: [c_int; 2] = [2, 3];

/// `SSL_CB_WRITE_ALERT` of openssl/ssl.h.
const SENDS_ALERT: c_int = 0x4008;

/// The alert ech_required.
const ECH_REQUIRED: c_int = 121;

type InfoCallback = extern "C" fn(*const SSL, c_int, c_int);

unsafe extern "C" {
    fn SSL_set1_ech_config_list(ssl: *mut SSL, list: *const c_uchar, length: usize) -> c_int;
    fn SSL_set_options(ssl: *mut SSL, options: u64) -> u64;
    fn SSL_ech_get1_status(
        ssl: *mut SSL,
        inner: *mut *mut c_char,
        outer: *mut *mut c_char,
    ) -> c_int;
    fn SSL_ech_get1_retry_config(
        ssl: *mut SSL,
        list: *mut *mut c_uchar,
        length: *mut usize,
    ) -> c_int;
    fn SSL_CTX_set_info_callback(ctx: *mut SSL_CTX, callback: Option<InfoCallback>);
}

/// The Encrypted ClientHello of a connector.
pub(crate) enum Offer {
    Configs(Vec<u8>),
    Grease,
}

impl Offer {
    /// Returns that of the setup, if there is one, and has the context's rejections recorded.
    pub(crate) fn of(
        setup: &ClientSetup<'_>,
        ssl: &mut SslContextBuilder,
    ) -> Result<Option<Self>, SetupError> {
        let offer = match (setup.ech, setup.ech_configs()?) {
            (_, Some(list)) => Self::Configs(list),
            (Some(Ech::Grease), _) => Self::Grease,
            _ => return Ok(None),
        };
        // SAFETY: the context is live.
        unsafe { SSL_CTX_set_info_callback(ssl.as_ptr(), Some(watch)) };
        Ok(Some(offer))
    }

    /// Sets it for a connection.
    pub(crate) fn set(&self, ssl: &mut SslRef) -> Result<(), ErrorStack> {
        match self {
            Self::Configs(list) => {
                // SAFETY: the connection is live, and the pointer is to as many bytes as are given, which are copied.
                good(unsafe { SSL_set1_ech_config_list(ssl.as_ptr(), list.as_ptr(), list.len()) })
            }
            Self::Grease => {
                // SAFETY: the connection is live.
                unsafe { SSL_set_options(ssl.as_ptr(), GREASE) };
                Ok(())
            }
        }
    }
}

/// Returns the outcome in a finished handshake.
pub(crate) fn status(ssl: &SslRef) -> Option<EchStatus> {
    let (mut inner, mut outer) = (ptr::null_mut(), ptr::null_mut());
    // SAFETY: the connection is live, and both pointers are to pointers that the function sets.
    let status = unsafe { SSL_ech_get1_status(ssl.as_ptr(), &raw mut inner, &raw mut outer) };
    // The function may leave errors, which would be read as those of the next operation.
    drop(ErrorStack::get());
    for name in [inner, outer] {
        // SAFETY: the function allocated the names, or left null.
        unsafe { openssl_sys::OPENSSL_free(name.cast()) };
    }
    match status {
        SUCCESS => Some(EchStatus::Accepted),
        status if GREASED.contains(&status) => Some(EchStatus::Grease),
        _ => None,
    }
}

/// Records the configurations of a server that rejected: the library hands them out from when it sends its alert.
extern "C" fn watch(ssl: *const SSL, mode: c_int, value: c_int) {
    if mode != SENDS_ALERT || value & 0xff != ECH_REQUIRED {
        return;
    }
    let (mut list, mut length) = (ptr::null_mut(), 0);
    // SAFETY: the connection is live; the function sets both values.
    let result =
        unsafe { SSL_ech_get1_retry_config(ssl.cast_mut(), &raw mut list, &raw mut length) };
    let configs = (result == 1 && !list.is_null()).then(|| {
        // SAFETY: the pointer is to as many bytes as the function says.
        unsafe { slice::from_raw_parts(list, length) }.to_vec()
    });
    // SAFETY: the function allocated the list, or left null.
    unsafe { openssl_sys::OPENSSL_free(list.cast()) };
    // SAFETY: the connection is live, and is not changed.
    let ssl = unsafe { SslRef::from_ptr(ssl.cast_mut()) };
    if let Some(probe) = probe_of(ssl) {
        probe.ech_rejected(configs);
    }
}
