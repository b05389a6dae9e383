//! Functions of libssl for which the openssl crate has no safe wrapper.

use std::{
    ffi::{CStr, CString, c_char, c_int, c_long, c_uchar, c_uint, c_void},
    ptr,
    time::Duration,
};

use foreign_types_shared::{ForeignType, ForeignTypeRef};
use libc::timeval;
use openssl::{
    nid::Nid,
    pkey::{PKey, PKeyRef, Private, Public},
    ssl::{SslContextBuilder, SslRef, SslSessionRef},
    stack::StackRef,
    x509::{X509, X509Name, X509Ref},
};
use openssl_sys::{EVP_PKEY, SSL, SSL_CTX, X509_STORE_CTX, stack_st_X509, stack_st_X509_NAME};

use crate::Failure;

use super::names;

pub(crate) type CertCallback = extern "C" fn(*mut SSL, *mut c_void) -> c_int;
pub(crate) type ClientCertCallback =
    extern "C" fn(*mut SSL, *mut *mut openssl_sys::X509, *mut *mut EVP_PKEY) -> c_int;
pub(crate) type VerifyCallback = extern "C" fn(*mut X509_STORE_CTX, *mut c_void) -> c_int;
pub(crate) type MessageCallback =
    extern "C" fn(c_int, c_int, c_int, *const c_void, usize, *mut SSL, *mut c_void);
pub(crate) type InfoCallback = extern "C" fn(*const SSL, c_int, c_int);
pub(crate) type AdvertiseCallback =
    extern "C" fn(*mut SSL, *mut *const c_uchar, *mut c_uint, *mut c_void) -> c_int;
pub(crate) type SelectCallback = extern "C" fn(
    *mut SSL,
    *mut *mut c_uchar,
    *mut c_uchar,
    *const c_uchar,
    c_uint,
    *mut c_void,
) -> c_int;
type TimerCallback = extern "C" fn(*mut SSL, c_uint) -> c_uint;

/// `OSSL_ECHSTORE` of openssl/ech.h: keys of Encrypted ClientHello with their configurations.
pub(crate) enum EchStore {}

unsafe extern "C" {
    fn SSL_CTX_set_cert_verify_callback(
        ctx: *mut SSL_CTX,
        callback: Option<VerifyCallback>,
        argument: *mut c_void,
    );
    fn SSL_CTX_set_client_cert_cb(ctx: *mut SSL_CTX, callback: Option<ClientCertCallback>);
    fn SSL_CTX_set_msg_callback(ctx: *mut SSL_CTX, callback: Option<MessageCallback>);
    fn SSL_CTX_set_info_callback(ctx: *mut SSL_CTX, callback: Option<InfoCallback>);
    fn SSL_CTX_set_next_protos_advertised_cb(
        ctx: *mut SSL_CTX,
        callback: Option<AdvertiseCallback>,
        argument: *mut c_void,
    );
    fn SSL_CTX_set_next_proto_select_cb(
        ctx: *mut SSL_CTX,
        callback: Option<SelectCallback>,
        argument: *mut c_void,
    );
    fn SSL_get0_next_proto_negotiated(
        ssl: *const SSL,
        data: *mut *const c_uchar,
        length: *mut c_uint,
    );
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
    fn SSL_use_PrivateKey(ssl: *mut SSL, key: *mut EVP_PKEY) -> c_int;
    fn SSL_use_certificate(ssl: *mut SSL, cert: *mut openssl_sys::X509) -> c_int;
    fn SSL_get_client_CA_list(ssl: *const SSL) -> *mut stack_st_X509_NAME;
    fn SSL_set_options(ssl: *mut SSL, options: u64) -> u64;
    fn SSL_use_psk_identity_hint(ssl: *mut SSL, hint: *const c_char) -> c_int;
    fn EVP_PKEY_up_ref(key: *mut EVP_PKEY) -> c_int;
    fn SSL_set_connect_state(ssl: *mut SSL);
    fn SSL_set_accept_state(ssl: *mut SSL);
    fn DTLS_set_timer_cb(ssl: *mut SSL, callback: Option<TimerCallback>);
    fn X509_STORE_CTX_set_error(ctx: *mut X509_STORE_CTX, error: c_int);
}

#[cfg(before_openssl_3_2)]
use super::absent::*;

#[cfg(not(before_openssl_3_2))]
unsafe extern "C" {
    fn SSL_get0_group_name(ssl: *mut SSL) -> *const c_char;
    fn SSL_set1_client_cert_type(ssl: *mut SSL, types: *const c_uchar, length: usize) -> c_int;
    fn SSL_set1_server_cert_type(ssl: *mut SSL, types: *const c_uchar, length: usize) -> c_int;
    fn SSL_get_negotiated_client_cert_type(ssl: *const SSL) -> c_int;
    fn SSL_get_negotiated_server_cert_type(ssl: *const SSL) -> c_int;
    fn SSL_get0_peer_rpk(ssl: *const SSL) -> *mut EVP_PKEY;
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
    pub(crate) const MODE: c_int = 33;
    pub(crate) const MAX_CERT_LIST: c_int = 51;
    pub(crate) const MAX_SEND_FRAGMENT: c_int = 52;
    pub(crate) const RENEGOTIATION_SUPPORT: c_int = 76;
    pub(crate) const EXTMS_SUPPORT: c_int = 122;
    pub(crate) const SET_MIN_VERSION: c_int = 123;
    pub(crate) const SET_MAX_VERSION: c_int = 124;
    pub(crate) const RETRY_VERIFY: c_int = 136;

    pub(super) const DTLS_GET_TIMEOUT: c_int = 73;
    pub(super) const DTLS_HANDLE_TIMEOUT: c_int = 74;
    pub(super) const CHAIN: c_int = 88;
    pub(super) const PEER_SIGNATURE_HASH: c_int = 108;
    pub(super) const GROUPS_LIST: c_int = 92;
    pub(super) const SIGALGS_LIST: c_int = 98;
    pub(super) const CLIENT_SIGALGS_LIST: c_int = 102;
    pub(super) const CLIENT_CERT_TYPES: c_int = 103;
    pub(super) const PEER_SIGNATURE_NAME: c_int = 141;
}

/// Modes of openssl/ssl.h.
pub(crate) mod mode {
    pub(crate) const PARTIAL_WRITE: i64 = 1;
    pub(crate) const MOVING_WRITE_BUFFER: i64 = 2;
    pub(crate) const SEND_FALLBACK_SCSV: i64 = 0x80;
}

/// The callbacks of a context for which the crate has no closures.
pub(crate) struct Callbacks {
    pub(crate) verify: VerifyCallback,
    pub(crate) message: MessageCallback,
    pub(crate) info: InfoCallback,
    pub(crate) client_cert: Option<ClientCertCallback>,
    pub(crate) advertise: Option<AdvertiseCallback>,
    pub(crate) select: Option<SelectCallback>,
}

pub(crate) fn set_callbacks(ctx: &mut SslContextBuilder, callbacks: &Callbacks) {
    let ctx = ctx.as_ptr();
    let none = ptr::null_mut();
    // SAFETY: the context is live, functions have static lifetime, and no argument is used.
    unsafe {
        SSL_CTX_set_cert_verify_callback(ctx, Some(callbacks.verify), none);
        SSL_CTX_set_msg_callback(ctx, Some(callbacks.message));
        SSL_CTX_set_info_callback(ctx, Some(callbacks.info));
        if callbacks.client_cert.is_some() {
            SSL_CTX_set_client_cert_cb(ctx, callbacks.client_cert);
        }
        if callbacks.advertise.is_some() {
            SSL_CTX_set_next_protos_advertised_cb(ctx, callbacks.advertise, none);
        }
        if callbacks.select.is_some() {
            SSL_CTX_set_next_proto_select_cb(ctx, callbacks.select, none);
        }
    }
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

pub(crate) fn set_state(ssl: &mut SslRef, server: bool) {
    // SAFETY: the connection is live.
    unsafe {
        if server {
            SSL_set_accept_state(ssl.as_ptr())
        } else {
            SSL_set_connect_state(ssl.as_ptr())
        }
    }
}

pub(crate) fn set_quiet_shutdown(ssl: &mut SslRef) {
    // SAFETY: the connection is live.
    unsafe { SSL_set_quiet_shutdown(ssl.as_ptr(), 1) };
}

pub(crate) fn key_update(ssl: &mut SslRef) -> bool {
    const NOT_REQUESTED: c_int = 0;
    // SAFETY: the connection is live.
    unsafe { SSL_key_update(ssl.as_ptr(), NOT_REQUESTED) == 1 }
}

fn set_list(ssl: &mut SslRef, control: c_int, list: &str) -> Result<(), Failure> {
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

pub(crate) fn set_groups(ssl: &mut SslRef, list: &str) -> Result<(), Failure> {
    set_list(ssl, control::GROUPS_LIST, list)
}

/// Sets the signature schemes for the server's certificate.
pub(crate) fn set_signatures(ssl: &mut SslRef, list: &str) -> Result<(), Failure> {
    set_list(ssl, control::SIGALGS_LIST, list)
}

/// Sets the signature schemes for the client's certificate.
pub(crate) fn set_client_signatures(ssl: &mut SslRef, list: &str) -> Result<(), Failure> {
    set_list(ssl, control::CLIENT_SIGALGS_LIST, list)
}

pub(crate) fn use_key(ssl: &mut SslRef, key: &PKeyRef<Private>) -> bool {
    // SAFETY: both are live; the connection takes its own reference.
    unsafe { SSL_use_PrivateKey(ssl.as_ptr(), key.as_ptr()) == 1 }
}

pub(crate) fn use_chain(ssl: &mut SslRef, leaf: &X509Ref, rest: &StackRef<X509>) -> bool {
    let stack: *mut stack_st_X509 = rest.as_ptr();
    // SAFETY: all are live; the connection takes its own references (the 1).
    unsafe {
        SSL_use_certificate(ssl.as_ptr(), leaf.as_ptr()) == 1
            && openssl_sys::SSL_ctrl(ssl.as_ptr(), control::CHAIN, 1, stack.cast()) == 1
    }
}

pub(crate) fn group_name(ssl: &SslRef) -> Option<String> {
    // SAFETY: the connection is live; the name is static, or null.
    let name = unsafe { SSL_get0_group_name(ssl.as_ptr()) };
    if name.is_null() {
        return None;
    }
    // SAFETY: a name returned by the library ends with a zero.
    Some(
        unsafe { CStr::from_ptr(name) }
            .to_string_lossy()
            .into_owned(),
    )
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
    // SAFETY: a name returned by the library ends with a zero.
    Some(
        unsafe { CStr::from_ptr(name) }
            .to_string_lossy()
            .into_owned(),
    )
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
    let Some(length) = usize::try_from(length).ok().filter(|_| !types.is_null()) else {
        return Vec::new();
    };
    // SAFETY: the control returns the number of bytes at the pointer.
    unsafe { std::slice::from_raw_parts(types, length) }.to_vec()
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
    unsafe { SSL_get0_next_proto_negotiated(ssl.as_ptr(), &mut data, &mut length) };
    if data.is_null() {
        return Vec::new();
    }
    // SAFETY: the library provides that many bytes.
    unsafe { std::slice::from_raw_parts(data, length as usize) }.to_vec()
}

pub(crate) fn use_psk_hint(ssl: &mut SslRef, hint: &[u8]) -> bool {
    let Ok(hint) = CString::new(hint) else {
        return false;
    };
    // SAFETY: the connection is live, and copies the hint.
    unsafe { SSL_use_psk_identity_hint(ssl.as_ptr(), hint.as_ptr()) == 1 }
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
    // SAFETY: the key is live, and the new reference belongs to the new value.
    unsafe {
        EVP_PKEY_up_ref(key);
        Some(PKey::from_ptr(key))
    }
}

pub(crate) fn set_timer(ssl: &mut SslRef, callback: TimerCallback) {
    // SAFETY: the connection is live, and a function has static lifetime.
    unsafe { DTLS_set_timer_cb(ssl.as_ptr(), Some(callback)) };
}

/// Returns the ticket of a session; empty where it has none.
pub(crate) fn ticket(session: &SslSessionRef) -> Vec<u8> {
    let (mut ticket, mut length) = (std::ptr::null(), 0);
    // SAFETY: the session is live, and lends that many bytes.
    unsafe {
        SSL_SESSION_get0_ticket(session.as_ptr(), &raw mut ticket, &raw mut length);
        if ticket.is_null() {
            return Vec::new();
        }
        std::slice::from_raw_parts(ticket, length).to_vec()
    }
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

/// Makes the library handle an expired timeout; returns false where that failed.
pub(crate) fn handle_timeout(ssl: &SslRef) -> bool {
    control(ssl, control::DTLS_HANDLE_TIMEOUT, 0) >= 0
}

/// Fails a verification as an application would.
pub(crate) fn refuse(ctx: *mut X509_STORE_CTX) {
    const APPLICATION_VERIFICATION: c_int = 50;
    // SAFETY: the context is the one that the library passed to a verification callback.
    unsafe { X509_STORE_CTX_set_error(ctx, APPLICATION_VERIFICATION) };
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
