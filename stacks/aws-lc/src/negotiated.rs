//! The negotiated parameters of a handshake.

use netbench_libssl::{Side, peer_chain, tls_version};
use netbench_tls::{Negotiated, TlsVersion};
use netbench_worker::alpn_text;
use openssl::ssl::SslRef;

use crate::ffi;

/// Returns the negotiated parameters according to one side of a finished handshake.
pub(crate) fn negotiated(ssl: &SslRef, side: Side) -> Negotiated {
    let resumed = ssl.session_reused();
    let version = ssl.version2().and_then(tls_version);
    // A resumed session of TLS 1.2 has no key exchange; AWS-LC remembers the old group.
    let has_group = !resumed || version == Some(TlsVersion::Tls13);
    // A server does not report its signature scheme.
    let has_signature = !resumed && side == Side::Client;
    Negotiated {
        version,
        suite: ssl.current_cipher().map(ffi::suite),
        group: ffi::group(ssl).filter(|_| has_group),
        signature: ffi::peer_signature(ssl).filter(|_| has_signature),
        alpn: alpn_text(ssl.selected_alpn_protocol()),
        resumed,
        chain_bytes: peer_chain(ssl, side),
        ..Negotiated::default()
    }
}
