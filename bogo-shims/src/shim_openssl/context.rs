//! The context of all connections, and what libssl calls back.

use std::{
    ffi::{c_int, c_uchar, c_uint, c_void},
    ptr,
};

use foreign_types_shared::ForeignType;
use openssl::{
    error::ErrorStack,
    ssl::{
        AlpnError, ClientHelloResponse, NameType, SniError, SslContext, SslContextBuilder,
        SslMethod, SslSessionCacheMode,
    },
};
use openssl_sys::{EVP_PKEY, SSL, X509_STORE_CTX};

use crate::{Failure, Options, options::hex_list};

use super::{
    certs,
    ffi::{self, Callbacks},
    setup::{self, library},
    state::state,
};

/// The longest early data that a server takes, in bytes.
const EARLY_DATA: u32 = 16384;

pub(crate) fn make(options: &Options) -> Result<SslContext, Failure> {
    let method = if options.on("-dtls") {
        SslMethod::dtls()
    } else {
        SslMethod::tls()
    };
    let mut ctx = SslContext::builder(method).map_err(library)?;
    // Tests use short keys and old suites on purpose.
    ctx.set_security_level(0);
    ctx.set_session_id_context(b"netbench").map_err(library)?;
    let cache = SslSessionCacheMode::BOTH;
    ctx.set_session_cache_mode(cache);
    if options.on("-enable-early-data") && options.on("-server") {
        ctx.set_max_early_data(EARLY_DATA).map_err(library)?;
    }
    hellos(&mut ctx);
    protocols(&mut ctx);
    sessions(&mut ctx);
    staple(&mut ctx)?;
    pre_shared_keys(&mut ctx, options);
    let old_client = options.on("-use-old-client-cert-callback");
    let selects = options.on("-select-next-proto") || options.on("-select-empty-next-proto");
    ffi::set_callbacks(
        &mut ctx,
        &Callbacks {
            verify: on_verify,
            message: on_message,
            info: on_info,
            client_cert: old_client.then_some(on_client_cert as ffi::ClientCertCallback),
            advertise: Some(on_advertise),
            select: selects.then_some(on_select as ffi::SelectCallback),
        },
    );
    Ok(ctx.build())
}

fn hellos(ctx: &mut SslContextBuilder) {
    ctx.set_client_hello_callback(|ssl, _| {
        let mut state = state();
        state.hello_called = true;
        if state.options.on("-fail-early-callback") {
            return Err(ErrorStack::get());
        }
        if !state.options.on("-use-early-callback") {
            return Ok(ClientHelloResponse::SUCCESS);
        }
        if state.options.on("-async") && !std::mem::replace(&mut state.hello_ready, true) {
            return Ok(ClientHelloResponse::RETRY);
        }
        let options = state.options.clone();
        drop(state);
        match certs::give(ssl, &options) {
            Ok(()) => Ok(ClientHelloResponse::SUCCESS),
            Err(_) => Err(ErrorStack::get()),
        }
    });
    ctx.set_servername_callback(|ssl, _| {
        let mut state = state();
        let name = ssl.servername(NameType::HOST_NAME);
        if name.is_none() {
            return Err(SniError::NOACK);
        }
        if let Some(want) = state.options.text("-expect-server-name")
            && name != Some(&*want)
        {
            state.found_wrong(format!("server name {name:?}, expected {want:?}"));
            return Err(SniError::ALERT_FATAL);
        }
        // An application that does not use the name has no callback, and then nothing is acknowledged.
        let uses =
            state.options.on("-expect-server-name") && !state.options.on("-no-server-name-ack");
        if uses { Ok(()) } else { Err(SniError::NOACK) }
    });
}

fn protocols(ctx: &mut SslContextBuilder) {
    ctx.set_alpn_select_callback(|_, offered| {
        let mut state = state();
        let options = &state.options;
        if options.on("-reject-alpn") {
            return Err(AlpnError::ALERT_FATAL);
        }
        if let Some(want) = options.bytes("-expect-advertised-alpn")
            && want != offered
        {
            state.found_wrong(format!("offered protocols {offered:?}"));
            return Err(AlpnError::ALERT_FATAL);
        }
        if options.on("-select-empty-alpn") {
            return Ok(&[]);
        }
        let Some(selected) = options
            .bytes("-select-alpn")
            .filter(|_| !options.on("-decline-alpn"))
        else {
            return Err(AlpnError::NOACK);
        };
        // The callback's answer has to be a part of the offer, or to live as long as the process.
        let at = offered
            .windows(selected.len().max(1))
            .position(|part| part == selected);
        match at {
            Some(at) => Ok(&offered[at..at + selected.len()]),
            None => Ok(Vec::leak(selected.to_vec())),
        }
    });
}

fn sessions(ctx: &mut SslContextBuilder) {
    ctx.set_new_session_callback(|_, session| {
        let mut state = state();
        state.got_session = true;
        state.session = Some(session);
    });
    ctx.set_keylog_callback(|_, line| {
        let mut words = line.split(' ');
        let (label, secret) = (words.next(), words.nth(1));
        if let (Some(label), Some(Ok(secret))) = (label, secret.map(hex_list)) {
            let secret = secret.into_iter().next().unwrap_or_default();
            state().secrets.push((label.to_owned(), secret));
        }
    });
}

fn staple(ctx: &mut SslContextBuilder) -> Result<(), Failure> {
    ctx.set_status_callback(|ssl| {
        let state = state();
        let options = &state.options;
        let fails = options.on("-use-ocsp-callback") && options.on("-fail-ocsp-callback");
        if !options.on("-server") {
            return Ok(!fails);
        }
        if fails {
            return Err(ErrorStack::get());
        }
        match certs::staple(options) {
            Some(response) if !options.on("-decline-ocsp-callback") => {
                ssl.set_ocsp_status(&response)?;
                Ok(true)
            }
            _ => Ok(false),
        }
    })
    .map_err(library)
}

fn pre_shared_keys(ctx: &mut SslContextBuilder, options: &Options) {
    if !options.on("-psk") {
        return;
    }
    ctx.set_psk_client_callback(|_, hint, identity_out, key_out| {
        let mut state = state();
        let identity = state
            .options
            .bytes("-psk-identity")
            .unwrap_or_default()
            .to_vec();
        let key = state.options.bytes("-psk").unwrap_or_default().to_vec();
        // TLS 1.3 has no hints, and asks before the version is known.
        if hint.is_none() && !identity.is_empty() {
            return Ok(0);
        }
        if hint.unwrap_or_default() != identity {
            state.found_wrong(format!("PSK hint {hint:?}"));
            return Ok(0);
        }
        if identity.len() >= identity_out.len() || key.len() > key_out.len() {
            return Ok(0);
        }
        identity_out[..identity.len()].copy_from_slice(&identity);
        identity_out[identity.len()] = 0;
        key_out[..key.len()].copy_from_slice(&key);
        Ok(key.len())
    });
    ctx.set_psk_server_callback(|_, identity, key_out| {
        let mut state = state();
        let wanted = state.options.bytes("-psk-identity").unwrap_or_default();
        if identity.unwrap_or_default() != wanted {
            state.found_wrong(format!("PSK identity {identity:?}"));
            return Ok(0);
        }
        let key = state.options.bytes("-psk").unwrap_or_default();
        if key.len() > key_out.len() {
            return Ok(0);
        }
        key_out[..key.len()].copy_from_slice(key);
        Ok(key.len())
    });
}

extern "C" fn on_verify(ctx: *mut X509_STORE_CTX, _: *mut c_void) -> c_int {
    let mut state = state();
    let options = &state.options;
    let custom = options.on("-use-custom-verify-callback");
    // libssl waits for a verification on the client alone.
    let waits = custom && options.on("-async") && !options.on("-server");
    if waits && !std::mem::replace(&mut state.verify_ready, true) {
        drop(state);
        // SAFETY: the library keeps the connection in this place of the context.
        let ssl = unsafe {
            let index = openssl_sys::SSL_get_ex_data_X509_STORE_CTX_idx();
            openssl_sys::X509_STORE_CTX_get_ex_data(ctx, index).cast::<SSL>()
        };
        ffi::control(ffi::borrowed(ssl), ffi::control::RETRY_VERIFY, 0);
        // Not a verdict yet, although it has to look like a good one.
        return 1;
    }
    if std::mem::replace(&mut state.verified, true) {
        state.found_wrong("the certificate was verified twice");
        return 0;
    }
    if state.options.on("-verify-fail") {
        ffi::refuse(ctx);
        return 0;
    }
    1
}

pub(crate) extern "C" fn on_cert(ssl: *mut SSL, _: *mut c_void) -> c_int {
    const COME_AGAIN: c_int = -1;
    let ssl = ffi::borrowed(ssl);
    let mut state = state();
    state.asked = true;
    let options = state.options.clone();
    if !options.on("-server")
        && let Err(failure) = setup::check_request(ssl, &options)
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
    cert_out: *mut *mut openssl_sys::X509,
    key_out: *mut *mut EVP_PKEY,
) -> c_int {
    const COME_AGAIN: c_int = -1;
    let ssl = ffi::borrowed(ssl);
    let mut state = state();
    state.asked = true;
    let options = state.options.clone();
    if let Err(failure) = setup::check_request(ssl, &options) {
        state.found_wrong(failure.to_string());
        return 0;
    }
    if options.on("-async") && !std::mem::replace(&mut state.cert_ready, true) {
        return COME_AGAIN;
    }
    let Ok(held) = certs::load(&options) else {
        return 0;
    };
    // The callback has room for one.
    let Ok([one]) = <[_; 1]>::try_from(held) else {
        return 0;
    };
    let Some(leaf) = one.chain.into_iter().next() else {
        return 0;
    };
    let key = one.key;
    // SAFETY: the library gives two places, and takes over one reference to each.
    unsafe {
        ptr::write(cert_out, into_raw(leaf));
        ptr::write(key_out, into_raw(key));
    }
    1
}

/// The pointer of a value, whose reference it takes along.
fn into_raw<T: ForeignType>(value: T) -> *mut T::CType {
    let pointer = value.as_ptr();
    std::mem::forget(value);
    pointer
}

extern "C" fn on_info(_: *const SSL, kind: c_int, _: c_int) {
    const HANDSHAKE_DONE: c_int = 0x20;
    if kind == HANDSHAKE_DONE {
        let mut state = state();
        state.handshake_done = true;
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
    // SAFETY: the library gives that many bytes.
    let data = unsafe { std::slice::from_raw_parts(data.cast::<u8>(), length) };
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

/// A ServerHello with the random value that makes it a HelloRetryRequest (RFC 8446 section 4.1.3).
fn is_retry(message: &[u8]) -> bool {
    const RANDOM: [u8; 8] = [0xcf, 0x21, 0xad, 0x74, 0xe5, 0x9a, 0x61, 0x11];
    message.first() == Some(&2) && message.get(6..14) == Some(&RANDOM)
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
    // It has to outlive this call, and the process is short.
    let list = Vec::leak(list);
    // SAFETY: the library gives two places.
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
    // SAFETY: the library gives two places.
    unsafe {
        ptr::write(out, selected.as_mut_ptr());
        ptr::write(length, c_uchar::try_from(selected.len()).unwrap_or(0));
    }
    0
}
