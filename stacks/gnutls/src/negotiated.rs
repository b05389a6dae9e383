//! The negotiated parameters of a handshake.

use std::slice;

use netbench_tls::{CipherSuite, CipherSuiteFacts, Negotiated, TlsVersion};
use netbench_worker::alpn_text;

use crate::{
    ffi::{self, Datum},
    settings,
};

/// Returns the negotiated parameters according to one side of a finished handshake.
pub(crate) fn negotiated(session: ffi::Session) -> Negotiated {
    let (resumed, version) = (is_resumed(session), version(session));
    // SAFETY: the session is alive.
    let (suite, group, scheme) = unsafe {
        (
            ffi::gnutls_ciphersuite_get(session),
            ffi::gnutls_group_get(session),
            ffi::gnutls_sign_algorithm_get(session),
        )
    };
    let suite: Option<CipherSuite> = suite.get().and_then(|name| name.parse().ok());
    let group = ffi::gnutls_group_get_name(group).get();
    // A resumed session of TLS 1.2 has no key exchange.
    let exchanged = !resumed || version == Some(TlsVersion::Tls13);
    // A server that decrypts with its RSA key signs nothing.
    let facts = suite.and_then(CipherSuite::facts);
    let is_signed = !resumed && facts.is_some_and(CipherSuiteFacts::is_signed);
    Negotiated {
        version,
        suite,
        group: group.filter(|_| exchanged).and_then(settings::group),
        signature: is_signed.then(|| settings::scheme(scheme)).flatten(),
        alpn: alpn_text(alpn(session)),
        resumed,
        chain_bytes: peer_chain(session),
        ..Negotiated::default()
    }
}

/// Returns whether an earlier session was resumed.
pub(crate) fn is_resumed(session: ffi::Session) -> bool {
    // SAFETY: the session is alive.
    unsafe { ffi::gnutls_session_is_resumed(session) != 0 }
}

/// Returns the negotiated application protocol.
pub(crate) fn alpn(session: ffi::Session) -> Option<Vec<u8>> {
    let mut name = Datum::EMPTY;
    // SAFETY: the session is alive, and the library keeps the name as long.
    unsafe {
        let code = ffi::gnutls_alpn_get_selected_protocol(session, &raw mut name);
        (code == 0).then(|| name.bytes().to_vec())
    }
}

/// Returns the version of a session, if one was chosen.
pub(crate) fn version(session: ffi::Session) -> Option<TlsVersion> {
    // SAFETY: the session is alive.
    match unsafe { ffi::gnutls_protocol_get_version(session) } {
        2 => Some(TlsVersion::Tls10),
        3 => Some(TlsVersion::Tls11),
        4 => Some(TlsVersion::Tls12),
        5 => Some(TlsVersion::Tls13),
        _ => None,
    }
}

/// Returns whether a session is of TLS 1.3.
pub(crate) fn is_tls13(session: ffi::Session) -> bool {
    version(session) == Some(TlsVersion::Tls13)
}

/// Returns the size of each certificate that the peer sent.
fn peer_chain(session: ffi::Session) -> Vec<u32> {
    let mut count = 0;
    // SAFETY: the session is alive, and the library keeps the chain as long.
    let chain = unsafe {
        let first = ffi::gnutls_certificate_get_peers(session, &raw mut count);
        // A resumed session remembers the chain, which was not sent again.
        if first.is_null() || is_resumed(session) {
            return Vec::new();
        }
        slice::from_raw_parts(first, count as usize)
    };
    chain.iter().map(|certificate| certificate.size).collect()
}
