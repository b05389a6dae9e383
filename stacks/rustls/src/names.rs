use netbench_tls::{CipherSuite, Group, Negotiated, TlsVersion};
use netbench_worker::{alpn_text, der_length};
use rustls::{CommonState, HandshakeKind};

/// Returns the negotiated parameters according to one side of a finished handshake.
pub(crate) fn negotiated(state: &CommonState) -> Negotiated {
    let resumed = state.handshake_kind() == Some(HandshakeKind::Resumed);
    Negotiated {
        version: state
            .protocol_version()
            .and_then(|version| TlsVersion::of(version.into())),
        suite: state
            .negotiated_cipher_suite()
            .map(|suite| CipherSuite(suite.suite().into())),
        group: state
            .negotiated_key_exchange_group()
            .map(|kx| Group(kx.name().into())),
        alpn: alpn_text(state.alpn_protocol()),
        resumed,
        // A resumed session remembers the chain, which was not sent again.
        chain_bytes: match state.peer_certificates() {
            Some(chain) if !resumed => chain.iter().map(der_length).collect(),
            _ => Vec::new(),
        },
        ..Negotiated::default()
    }
}
