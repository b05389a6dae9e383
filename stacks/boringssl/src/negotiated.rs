use boring::{ssl::SslRef, x509::X509Ref};
use foreign_types_shared::ForeignTypeRef;
use netbench_tls::{CipherSuite, Group, Negotiated, SignatureScheme, TlsVersion};
use netbench_worker::{EndpointSide, alpn_text};

use crate::names::version;

/// Returns the negotiated parameters according to one side of a finished handshake.
pub(crate) fn negotiated(ssl: &SslRef, side: EndpointSide) -> Negotiated {
    let resumed = ssl.session_reused();
    let version = ssl.version2().and_then(version);
    // A resumed session of TLS 1.2 has no key exchange; BoringSSL remembers the old group.
    let has_group = !resumed || version == Some(TlsVersion::Tls13);
    Negotiated {
        version,
        suite: ssl
            .current_cipher()
            .map(|cipher| CipherSuite(cipher.protocol_id())),
        group: ssl.curve().filter(|_| has_group).map(Group),
        signature: server_signature(ssl, side).filter(|_| !resumed),
        alpn: alpn_text(ssl.selected_alpn_protocol()),
        resumed,
        chain_bytes: peer_chain(ssl, side),
        ..Negotiated::default()
    }
}

/// Returns the scheme of the server's handshake signature, if it signed. A server forgets it when the
/// handshake is done.
fn server_signature(ssl: &SslRef, side: EndpointSide) -> Option<SignatureScheme> {
    // SAFETY: the connection is live.
    let code = unsafe { boring_sys::SSL_get_peer_signature_algorithm(ssl.as_ptr()) };
    (side == EndpointSide::Client && code != 0).then_some(SignatureScheme(code))
}

/// Returns the size of each certificate that the peer sent. A server's list of its client's certificates
/// lacks the leaf.
fn peer_chain(ssl: &SslRef, side: EndpointSide) -> Vec<u32> {
    if ssl.session_reused() {
        // The session remembers the chain, which was not sent again.
        return Vec::new();
    }
    let leaf = (side == EndpointSide::Server)
        .then(|| ssl.peer_certificate())
        .flatten();
    let chain = ssl.peer_cert_chain().into_iter().flatten();
    leaf.iter()
        .map(|leaf| der_bytes(leaf))
        .chain(chain.map(der_bytes))
        .collect()
}

/// Returns the length of a certificate in DER, without copying it.
fn der_bytes(certificate: &X509Ref) -> u32 {
    // SAFETY: the certificate is live; without a buffer, the function only computes the length.
    let length = unsafe { boring_sys::i2d_X509(certificate.as_ptr(), std::ptr::null_mut()) };
    u32::try_from(length).unwrap_or(0)
}
