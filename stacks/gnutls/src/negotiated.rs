//! What a handshake agreed on.

use std::{ffi::c_int, slice};

use netbench_model::{CipherSuite, Negotiated, TlsVersion, tls::CipherSuiteFacts};

use crate::{
    ffi::{self, Datum},
    settings,
};

/// What one side of a finished handshake says was agreed.
pub(crate) fn negotiated(session: ffi::Session) -> Negotiated {
    let resumed = is_resumed(session);
    // SAFETY: the session is alive, and names are the library's own.
    let (version, suite, group, scheme) = unsafe {
        (
            version(ffi::gnutls_protocol_get_version(session)),
            ffi::text(ffi::gnutls_ciphersuite_get(session)).and_then(|name| name.parse().ok()),
            ffi::text(ffi::gnutls_group_get_name(ffi::gnutls_group_get(session))),
            ffi::gnutls_sign_algorithm_get(session),
        )
    };
    // A session of TLS 1.2 that is resumed exchanges no keys.
    let exchanged = !resumed || version == Some(TlsVersion::Tls13);
    // A server that decrypts with its RSA key signs nothing.
    let facts = suite.and_then(CipherSuite::facts);
    let is_signed = !resumed && facts.is_some_and(CipherSuiteFacts::is_signed);
    Negotiated {
        version,
        suite,
        group: group.filter(|_| exchanged).and_then(settings::group),
        signature: is_signed.then(|| settings::scheme(scheme)).flatten(),
        alpn: alpn(session).map(|name| String::from_utf8_lossy(&name).into_owned()),
        resumed,
        chain_bytes: if resumed {
            Vec::new()
        } else {
            peer_chain(session)
        },
    }
}

/// Whether an earlier session was resumed.
pub(crate) fn is_resumed(session: ffi::Session) -> bool {
    // SAFETY: the session is alive.
    unsafe { ffi::gnutls_session_is_resumed(session) != 0 }
}

/// The protocol above TLS.
pub(crate) fn alpn(session: ffi::Session) -> Option<Vec<u8>> {
    let mut name = Datum::EMPTY;
    // SAFETY: the session is alive, and the library keeps the name as long.
    unsafe {
        let code = ffi::gnutls_alpn_get_selected_protocol(session, &raw mut name);
        (code == 0).then(|| name.bytes().to_vec())
    }
}

/// A number of `gnutls_protocol_t`.
pub(crate) fn version(number: c_int) -> Option<TlsVersion> {
    match number {
        2 => Some(TlsVersion::Tls10),
        3 => Some(TlsVersion::Tls11),
        4 => Some(TlsVersion::Tls12),
        5 => Some(TlsVersion::Tls13),
        _ => None,
    }
}

/// The bytes of each certificate that the other side sent.
fn peer_chain(session: ffi::Session) -> Vec<u32> {
    let mut count = 0;
    // SAFETY: the session is alive, and the library keeps the chain as long.
    let chain = unsafe {
        let first = ffi::gnutls_certificate_get_peers(session, &raw mut count);
        if first.is_null() {
            return Vec::new();
        }
        slice::from_raw_parts(first, count as usize)
    };
    chain.iter().map(|certificate| certificate.size).collect()
}
