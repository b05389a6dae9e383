//! The context of all connections, and the callbacks for which the openssl crate has safe functions.

use openssl::{
    error::ErrorStack,
    ssl::{
        AlpnError, ClientHelloResponse, NameType, SniError, SslContext, SslContextBuilder,
        SslMethod, SslSessionCacheMode,
    },
};

use crate::{Failure, Options, options::hex_list};

use super::{callbacks, certs, errors::library, state::state};

/// The maximum early data that a server accepts, in bytes: the same as in BoringSSL, which the tests require.
const EARLY_DATA: u32 = 14336;

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
    ctx.set_session_cache_mode(SslSessionCacheMode::BOTH);
    if options.on("-enable-early-data") && options.on("-server") {
        ctx.set_max_early_data(EARLY_DATA).map_err(library)?;
    }
    hellos(&mut ctx);
    protocols(&mut ctx);
    sessions(&mut ctx);
    staple(&mut ctx)?;
    pre_shared_keys(&mut ctx, options);
    callbacks::set(&mut ctx, options);
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
        // The name of a resumed session is known, and needs no acknowledgement.
        if state.options.on("-no-server-name-ack") || ssl.session_reused() {
            Err(SniError::NOACK)
        } else {
            Ok(())
        }
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
        // The callback's answer must be a part of the offer, or live as long as the process.
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
            state().secrets.entry(label.to_owned()).or_insert(secret);
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
        // TLS 1.3 has no hints, and its callback runs before the version is known.
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
