//! Functions of libssl for which the openssl crate has no safe wrapper.

use std::{
    ffi::{CStr, CString, c_char, c_int, c_long, c_uchar, c_uint, c_void},
    ptr,
    time::Duration,
};

use foreign_types_shared::ForeignTypeRef;
use libc::timeval;
use openssl::{
    nid::Nid,
    pkey::{PKey, PKeyRef, Public},
    ssl::{SslRef, SslSessionRef},
    stack::StackRef,
    x509::{X509Name, X509StoreContextRef, X509VerifyResult},
};
use openssl_sys::{SSL, X509_STORE_CTX, stack_st_X509_NAME};

use crate::Failure;

use super::{errors::succeeded, names, newer::*};

pub(crate) type CertCallback = extern "C" fn(*mut SSL, *mut c_void) -> c_int;
type TimerCallback = extern "C" fn(*mut SSL, c_uint) -> c_uint;

/// `OSSL_ECHSTORE` of openssl/ech.h: keys of Encrypted ClientHello with their configurations.
pub(crate) enum EchStore {}

unsafe extern "C" {
    fn SSL_set_cert_cb(ssl: *mut SSL, callback: Option<CertCallback>, argument: *mut c_void);
    fn SSL_set_quiet_shutdown(ssl: *mut SSL, mode: c_int);
    fn SSL_key_update(ssl: *mut SSL, kind: c_int) -> c_int;
    fn SSL_SESSION_get0_ticket(
        session: *const openssl_sys::SSL_SESSION,
        ticket: *mut *const c_uchar,
        length: *mut usize,
    );
    fn SSL_get_early_data_status(ssl: *const SSL) -> c_int;
    fn SSL_get_peer_signature_type_nid(ssl: *const SSL, nid: *mut c_int) -> c_int;
    fn SSL_get_client_CA_list(ssl: *const SSL) -> *mut stack_st_X509_NAME;
    fn SSL_set_options(ssl: *mut SSL, options: u64) -> u64;
    fn SSL_use_psk_identity_hint(ssl: *mut SSL, hint: *const c_char) -> c_int;
    fn DTLS_set_timer_cb(ssl: *mut SSL, callback: Option<TimerCallback>);
}

/// Options of openssl/ssl.h.
pub(crate) mod option {
    pub(crate) const LEGACY_SERVER_CONNECT: u64 = 1 << 2;
    pub(crate) const ALLOW_CLIENT_RENEGOTIATION: u64 = 1 << 8;
    pub(crate) const NO_QUERY_MTU: u64 = 1 << 12;
    pub(crate) const NO_TICKET: u64 = 1 << 14;
    pub(crate) const CIPHER_SERVER_PREFERENCE: u64 = 1 << 22;
    pub(crate) const NO_ANTI_REPLAY: u64 = 1 << 24;
    pub(crate) const NO_TLS1: u64 = 1 << 26;
    pub(crate) const NO_TLS1_1: u64 = 1 << 28;
    pub(crate) const NO_TLS1_2: u64 = 1 << 27;
    pub(crate) const NO_TLS1_3: u64 = 1 << 29;
    pub(crate) const NO_RENEGOTIATION: u64 = 1 << 30;
}

/// Controls of openssl/ssl.h.
pub(crate) mod control {
    use std::ffi::c_int;

    pub(crate) const TOTAL_RENEGOTIATIONS: c_int = 12;
    pub(crate) const SET_MTU: c_int = 17;
    pub(crate) const MODE: c_int = 33;
    pub(crate) const MAX_CERT_LIST: c_int = 51;
    pub(crate) const MAX_SEND_FRAGMENT: c_int = 52;
    pub(crate) const DTLS_HANDLE_TIMEOUT: c_int = 74;
    pub(crate) const RENEGOTIATION_SUPPORT: c_int = 76;
    pub(crate) const GROUPS_LIST: c_int = 92;
    /// The signature schemes for the server's certificate.
    pub(crate) const SIGALGS_LIST: c_int = 98;
    /// The signature schemes for the client's certificate.
    pub(crate) const CLIENT_SIGALGS_LIST: c_int = 102;
    pub(crate) const SET_MIN_VERSION: c_int = 123;
    pub(crate) const SET_MAX_VERSION: c_int = 124;
    pub(crate) const RETRY_VERIFY: c_int = 136;

    pub(super) const DTLS_GET_TIMEOUT: c_int = 73;
    pub(super) const PEER_SIGNATURE_HASH: c_int = 108;
    pub(super) const CLIENT_CERT_TYPES: c_int = 103;
    pub(super) const PEER_SIGNATURE_NAME: c_int = 141;
}

/// Modes of openssl/ssl.h.
pub(crate) mod mode {
    pub(crate) const PARTIAL_WRITE: i64 = 1;
    pub(crate) const MOVING_WRITE_BUFFER: i64 = 2;
    pub(crate) const SEND_FALLBACK_SCSV: i64 = 0x80;
}

pub(crate) fn set_cert_callback(ssl: &mut SslRef, callback: CertCallback) {
    // SAFETY: the connection is live, and the argument is not used.
    unsafe { SSL_set_cert_cb(ssl.as_ptr(), Some(callback), ptr::null_mut()) };
}

/// Calls a control that takes a number and no pointer.
pub(crate) fn control(ssl: &SslRef, control: c_int, value: i64) -> c_long {
    // SAFETY: the connection is live; these controls take no pointer.
    unsafe { openssl_sys::SSL_ctrl(ssl.as_ptr(), control, value as c_long, ptr::null_mut()) }
}

pub(crate) fn set_options(ssl: &mut SslRef, options: u64) {
    // SAFETY: the connection is live.
    unsafe { SSL_set_options(ssl.as_ptr(), options) };
}

pub(crate) fn set_quiet_shutdown(ssl: &mut SslRef) {
    // SAFETY: the connection is live.
    unsafe { SSL_set_quiet_shutdown(ssl.as_ptr(), 1) };
}

pub(crate) fn key_update(ssl: &SslRef) -> Result<(), Failure> {
    const NOT_REQUESTED: c_int = 0;
    // SAFETY: the connection is live.
    succeeded(unsafe { SSL_key_update(ssl.as_ptr(), NOT_REQUESTED) })
}

/// Sets a list of groups or of signature schemes.
pub(crate) fn set_list(ssl: &mut SslRef, control: c_int, list: &str) -> Result<(), Failure> {
    let set = CString::new(list).is_ok_and(|text| {
        let text = text.as_ptr().cast_mut().cast();
        // SAFETY: the connection is live, and the control copies the string.
        (unsafe { openssl_sys::SSL_ctrl(ssl.as_ptr(), control, 0, text) }) == 1
    });
    if set {
        Ok(())
    } else {
        let list = in_words(list);
        Err(Failure::unsupported(format!("the algorithms {list}")))
    }
}

/// A list as OpenSSL's functions take them, without the marks of key shares.
pub(crate) fn in_words(list: &str) -> String {
    list.replace('*', "").replace(':', ", ")
}

pub(crate) fn group_name(ssl: &SslRef) -> Option<String> {
    // SAFETY: the connection is live.
    text(unsafe { SSL_get0_group_name(ssl.as_ptr()) })
}

/// Returns the registered name of the peer's signature scheme.
pub(crate) fn peer_signature(ssl: &SslRef) -> Option<String> {
    let mut name: *const c_char = ptr::null();
    let place = (&raw mut name).cast();
    // SAFETY: the connection is live, and the control writes one pointer; before 3.5, libssl does not know it.
    let found =
        unsafe { openssl_sys::SSL_ctrl(ssl.as_ptr(), control::PEER_SIGNATURE_NAME, 0, place) };
    if found != 1 || name.is_null() {
        return peer_algorithms(ssl)
            .and_then(|(hash, kind)| names::signature_of(hash, kind))
            .map(str::to_owned);
    }
    text(name)
}

/// Returns the hash and the kind of the peer's signature.
fn peer_algorithms(ssl: &SslRef) -> Option<(Nid, Nid)> {
    let (mut hash, mut kind): (c_int, c_int) = (0, 0);
    let place = (&raw mut hash).cast();
    // SAFETY: the connection is live, and both calls write one number.
    let found = unsafe {
        openssl_sys::SSL_ctrl(ssl.as_ptr(), control::PEER_SIGNATURE_HASH, 0, place) == 1
            && SSL_get_peer_signature_type_nid(ssl.as_ptr(), &raw mut kind) == 1
    };
    found.then(|| (Nid::from_raw(hash), Nid::from_raw(kind)))
}

/// Returns the certificate types of a CertificateRequest up to TLS 1.2.
pub(crate) fn certificate_types(ssl: &SslRef) -> Vec<u8> {
    let mut types: *const c_uchar = ptr::null();
    let place = (&raw mut types).cast();
    // SAFETY: the connection is live, and the control writes one pointer.
    let length =
        unsafe { openssl_sys::SSL_ctrl(ssl.as_ptr(), control::CLIENT_CERT_TYPES, 0, place) };
    bytes(types, usize::try_from(length).unwrap_or(0)).to_vec()
}

/// Returns the certificate_authorities that the server sent, as DER.
pub(crate) fn ca_names(ssl: &SslRef) -> Vec<Vec<u8>> {
    // SAFETY: the connection is live, and owns the stack.
    let stack = unsafe { SSL_get_client_CA_list(ssl.as_ptr()) };
    if stack.is_null() {
        return Vec::new();
    }
    // SAFETY: the stack holds names, and lives as long as the connection.
    let names = unsafe { StackRef::<X509Name>::from_ptr(stack) };
    names.iter().filter_map(|name| name.to_der().ok()).collect()
}

pub(crate) fn next_proto(ssl: &SslRef) -> Vec<u8> {
    let (mut data, mut length): (*const c_uchar, c_uint) = (ptr::null(), 0);
    // SAFETY: the connection is live, and the function may write to both places.
    unsafe {
        openssl_sys::SSL_get0_next_proto_negotiated(ssl.as_ptr(), &mut data, &mut length);
    }
    bytes(data, length as usize).to_vec()
}

pub(crate) fn set_psk_hint(ssl: &mut SslRef, hint: &[u8]) -> Result<(), Failure> {
    let set = match CString::new(hint) {
        // SAFETY: the connection is live, and copies the hint.
        Ok(hint) => unsafe { SSL_use_psk_identity_hint(ssl.as_ptr(), hint.as_ptr()) },
        Err(_) => 0,
    };
    succeeded(set)
}

/// Sets the certificate types (RFC 7250) that the client may send, and that the server may.
pub(crate) fn set_certificate_types(ssl: &mut SslRef, client: &[u8], server: &[u8]) -> bool {
    // SAFETY: the connection is live, and copies the lists.
    unsafe {
        (client.is_empty()
            || SSL_set1_client_cert_type(ssl.as_ptr(), client.as_ptr(), client.len()) == 1)
            && (server.is_empty()
                || SSL_set1_server_cert_type(ssl.as_ptr(), server.as_ptr(), server.len()) == 1)
    }
}

/// Returns the negotiated type of the client's certificate, or of the server's.
pub(crate) fn certificate_type_agreed(ssl: &SslRef, of_client: bool) -> i64 {
    // SAFETY: the connection is live.
    let agreed = unsafe {
        if of_client {
            SSL_get_negotiated_client_cert_type(ssl.as_ptr())
        } else {
            SSL_get_negotiated_server_cert_type(ssl.as_ptr())
        }
    };
    agreed.into()
}

pub(crate) fn peer_raw_key(ssl: &SslRef) -> Option<PKey<Public>> {
    // SAFETY: the connection is live.
    let key = unsafe { SSL_get0_peer_rpk(ssl.as_ptr()) };
    if key.is_null() {
        return None;
    }
    // SAFETY: the connection owns the key.
    Some(unsafe { PKeyRef::from_ptr(key) }.to_owned())
}

pub(crate) fn set_timer(ssl: &mut SslRef, callback: TimerCallback) {
    // SAFETY: the connection is live, and a function has static lifetime.
    unsafe { DTLS_set_timer_cb(ssl.as_ptr(), Some(callback)) };
}

/// Returns the ticket of a session; empty where it has none.
pub(crate) fn ticket(session: &SslSessionRef) -> Vec<u8> {
    let (mut ticket, mut length) = (ptr::null(), 0);
    // SAFETY: the session is live, and the function may write to both places.
    unsafe { SSL_SESSION_get0_ticket(session.as_ptr(), &raw mut ticket, &raw mut length) };
    bytes(ticket, length).to_vec()
}

/// Returns the time until the next timeout.
pub(crate) fn timeout(ssl: &SslRef) -> Option<Duration> {
    let mut left = timeval {
        tv_sec: 0,
        tv_usec: 0,
    };
    let place = (&raw mut left).cast();
    // SAFETY: the connection is live, and the control writes a timeval.
    if unsafe { openssl_sys::SSL_ctrl(ssl.as_ptr(), control::DTLS_GET_TIMEOUT, 0, place) } != 1 {
        return None;
    }
    let seconds = Duration::from_secs(u64::try_from(left.tv_sec).ok()?);
    Some(seconds + Duration::from_micros(u64::try_from(left.tv_usec).ok()?))
}

/// Fails a verification as an application would.
pub(crate) fn refuse(ctx: *mut X509_STORE_CTX) {
    // SAFETY: the context is the one that the library passed to a verification callback.
    let ctx = unsafe { X509StoreContextRef::from_ptr_mut(ctx) };
    ctx.set_error(X509VerifyResult::APPLICATION_VERIFICATION);
}

/// Returns the connection whose certificate is verified.
pub(crate) fn of_verification<'a>(ctx: *mut X509_STORE_CTX) -> &'a mut SslRef {
    // SAFETY: the library keeps the connection under this index of the context.
    borrowed(unsafe {
        let index = openssl_sys::SSL_get_ex_data_X509_STORE_CTX_idx();
        openssl_sys::X509_STORE_CTX_get_ex_data(ctx, index).cast::<SSL>()
    })
}

/// Returns the connection that a callback was given.
pub(crate) fn borrowed<'a>(ssl: *mut SSL) -> &'a mut SslRef {
    // SAFETY: the library passes a live connection, and no other code uses it meanwhile.
    unsafe { SslRef::from_ptr_mut(ssl) }
}

/// Returns whether the server accepted early data.
pub(crate) fn early_data_accepted(ssl: &SslRef) -> bool {
    const ACCEPTED: c_int = 2;
    // SAFETY: the connection is live.
    unsafe { SSL_get_early_data_status(ssl.as_ptr()) == ACCEPTED }
}

/// Returns the bytes at a pointer from the library; none for null.
pub(crate) fn bytes<'a>(data: *const c_uchar, length: usize) -> &'a [u8] {
    if data.is_null() {
        return &[];
    }
    // SAFETY: the library provides that many bytes, which live until its next call or the end of the callback.
    unsafe { std::slice::from_raw_parts(data, length) }
}

/// Returns a string of the library, or `None` for null.
pub(crate) fn text(name: *const c_char) -> Option<String> {
    if name.is_null() {
        return None;
    }
    // SAFETY: a string of the library ends with a zero.
    let name = unsafe { CStr::from_ptr(name) };
    Some(name.to_string_lossy().into_owned())
}
