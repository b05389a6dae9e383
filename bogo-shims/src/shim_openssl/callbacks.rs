//! The callbacks from libssl in C: certificates, verification, messages, NPN.

use std::{
    ffi::{c_int, c_uchar, c_uint, c_void},
    ptr,
};

use foreign_types_shared::ForeignType;
use netbench_tls::wire::{RETRY_RANDOM, handshake::SERVER_HELLO};
use openssl::ssl::SslContextBuilder;
use openssl_sys::{EVP_PKEY, SSL, SSL_CTX, X509, X509_STORE_CTX};

use crate::Options;

use super::{certs, ech, expect::check_request, ffi, state::state};

unsafe extern "C" {
    fn SSL_CTX_set_cert_verify_callback(
        ctx: *mut SSL_CTX,
        callback: extern "C" fn(*mut X509_STORE_CTX, *mut c_void) -> c_int,
        argument: *mut c_void,
    );
    fn SSL_CTX_set_client_cert_cb(
        ctx: *mut SSL_CTX,
        callback: extern "C" fn(*mut SSL, *mut *mut X509, *mut *mut EVP_PKEY) -> c_int,
    );
    fn SSL_CTX_set_msg_callback(
        ctx: *mut SSL_CTX,
        callback: extern "C" fn(c_int, c_int, c_int, *const c_void, usize, *mut SSL, *mut c_void),
    );
    fn SSL_CTX_set_info_callback(
        ctx: *mut SSL_CTX,
        callback: extern "C" fn(*const SSL, c_int, c_int),
    );
}

/// Sets the callbacks of a context for which the openssl crate has no closures.
pub(crate) fn set(ctx: &mut SslContextBuilder, options: &Options) {
    let ctx = ctx.as_ptr();
    let none = ptr::null_mut();
    let selects = options.on("-select-next-proto") || options.on("-select-empty-next-proto");
    // SAFETY: the context is live, functions have static lifetime, and no argument is used.
    unsafe {
        SSL_CTX_set_cert_verify_callback(ctx, on_verify, none);
        SSL_CTX_set_msg_callback(ctx, on_message);
        SSL_CTX_set_info_callback(ctx, on_info);
        openssl_sys::SSL_CTX_set_next_protos_advertised_cb(ctx, on_advertise, none);
        if options.on("-use-old-client-cert-callback") {
            SSL_CTX_set_client_cert_cb(ctx, on_client_cert);
        }
        if selects {
            openssl_sys::SSL_CTX_set_next_proto_select_cb(ctx, on_select, none);
        }
    }
}

/// The return value of a certificate callback that is to be called again later.
const COME_AGAIN: c_int = -1;

extern "C" fn on_verify(ctx: *mut X509_STORE_CTX, _: *mut c_void) -> c_int {
    let mut state = state();
    let options = &state.options;
    let custom = options.on("-use-custom-verify-callback");
    // libssl waits for a verification only on the client.
    let waits = custom && options.on("-async") && !options.on("-server");
    if waits && !std::mem::replace(&mut state.verify_ready, true) {
        drop(state);
        ffi::control(ffi::of_verification(ctx), ffi::control::RETRY_VERIFY, 0);
        // This is no verdict yet, although the value must be that of success.
        return 1;
    }
    if std::mem::replace(&mut state.verified, true) {
        state.found_wrong("the certificate was verified twice");
        return 0;
    }
    drop(state);
    ech::record_name(ffi::of_verification(ctx));
    let state = self::state();
    if state.options.on("-verify-fail") {
        ffi::refuse(ctx);
        return 0;
    }
    1
}

pub(crate) extern "C" fn on_cert(ssl: *mut SSL, _: *mut c_void) -> c_int {
    let ssl = ffi::borrowed(ssl);
    let mut state = state();
    state.asked = true;
    let options = state.options.clone();
    if !options.on("-server")
        && let Err(failure) = check_request(ssl, &options)
    {
        state.found_wrong(failure.to_string());
        return 0;
    }
    if options.on("-fail-cert-callback") {
        return 0;
    }
    if !options.on("-async") || options.on("-use-early-callback") {
        return 1;
    }
    if !std::mem::replace(&mut state.cert_ready, true) {
        return COME_AGAIN;
    }
    drop(state);
    c_int::from(certs::give(ssl, &options).is_ok())
}

extern "C" fn on_client_cert(
    ssl: *mut SSL,
    cert_out: *mut *mut X509,
    key_out: *mut *mut EVP_PKEY,
) -> c_int {
    let ssl = ffi::borrowed(ssl);
    let mut state = state();
    state.asked = true;
    let options = state.options.clone();
    if let Err(failure) = check_request(ssl, &options) {
        state.found_wrong(failure.to_string());
        return 0;
    }
    if options.on("-async") && !std::mem::replace(&mut state.cert_ready, true) {
        return COME_AGAIN;
    }
    let Ok(held) = certs::load(&options) else {
        return 0;
    };
    // The callback returns only one certificate.
    let Ok([one]) = <[_; 1]>::try_from(held) else {
        return 0;
    };
    let Some(leaf) = one.chain.into_iter().next() else {
        return 0;
    };
    let key = one.key;
    // SAFETY: the library provides two places, and takes over one reference to each.
    unsafe {
        ptr::write(cert_out, into_raw(leaf));
        ptr::write(key_out, into_raw(key));
    }
    1
}

/// Returns the pointer of a value, with ownership of the value's reference.
fn into_raw<T: ForeignType>(value: T) -> *mut T::CType {
    let pointer = value.as_ptr();
    std::mem::forget(value);
    pointer
}

extern "C" fn on_info(_: *const SSL, kind: c_int, _: c_int) {
    const HANDSHAKE_DONE: c_int = 0x20;
    if kind == HANDSHAKE_DONE {
        let mut state = state();
        if state.options.on("-handshake-never-done") {
            state.found_wrong("the handshake was done");
        }
    }
}

extern "C" fn on_message(
    sent: c_int,
    _version: c_int,
    content: c_int,
    data: *const c_void,
    length: usize,
    _: *mut SSL,
    _: *mut c_void,
) {
    if data.is_null() {
        return;
    }
    let data = ffi::bytes(data.cast(), length);
    let who = if sent == 0 { "read" } else { "write" };
    let mut state = state();
    let line = match (content, data) {
        (0, _) => format!("{who} v2clienthello\n"),
        (20, _) => format!("{who} ccs\n"),
        (21, [level, alert, ..]) => format!("{who} alert {level} {alert}\n"),
        (22, [kind, ..]) => {
            state.retried |= is_retry(data);
            format!("{who} hs {kind}\n")
        }
        _ => return,
    };
    state.messages.push_str(&line);
}

/// Returns whether a message is a ServerHello with the random value of a HelloRetryRequest (RFC
/// 8446 section 4.1.3).
fn is_retry(message: &[u8]) -> bool {
    message.first() == Some(&SERVER_HELLO) && message.get(6..38) == Some(&RETRY_RANDOM)
}

extern "C" fn on_advertise(
    _: *mut SSL,
    out: *mut *const c_uchar,
    length: *mut c_uint,
    _: *mut c_void,
) -> c_int {
    const NOACK: c_int = 3;
    let state = state();
    let list = match state.options.bytes("-advertise-npn") {
        Some(list) => list.to_vec(),
        None if state.options.on("-advertise-empty-npn") => Vec::new(),
        None => return NOACK,
    };
    // The list must outlive this call, and the process is short-lived.
    let list = Vec::leak(list);
    // SAFETY: the library provides two places.
    unsafe {
        ptr::write(out, list.as_ptr());
        ptr::write(length, c_uint::try_from(list.len()).unwrap_or(0));
    }
    0
}

extern "C" fn on_select(
    _: *mut SSL,
    out: *mut *mut c_uchar,
    length: *mut c_uchar,
    _: *const c_uchar,
    _: c_uint,
    _: *mut c_void,
) -> c_int {
    let selected = state()
        .options
        .bytes("-select-next-proto")
        .unwrap_or_default()
        .to_vec();
    let selected = Vec::leak(selected);
    // SAFETY: the library provides two places.
    unsafe {
        ptr::write(out, selected.as_mut_ptr());
        ptr::write(length, c_uchar::try_from(selected.len()).unwrap_or(0));
    }
    0
}
