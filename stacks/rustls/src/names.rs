use netbench_tls::{CipherSuite, Group, Negotiated, TlsVersion};
use netbench_worker::der_length;
use rustls::{CommonState, HandshakeKind};

/// Returns the negotiated parameters according to one side of a finished handshake.
pub(crate) fn negotiated(state: &CommonState, suite: Option<rustls::CipherSuite>) -> Negotiated {
    let resumed = state.handshake_kind() == Some(HandshakeKind::Resumed);
    Negotiated {
        ech: None,
        early_data: None,
        version: state
            .protocol_version()
            .and_then(|version| TlsVersion::of(version.into())),
        suite: suite.map(|suite| CipherSuite(suite.into())),
        group: state
            .negotiated_key_exchange_group()
            .map(|kx| Group(kx.name().into())),
        signature: None,
        alpn: state
            .alpn_protocol()
            .map(|name| String::from_utf8_lossy(name).into_owned()),
        resumed,
        // A resumed session remembers the chain, which was not sent again.
        chain_bytes: match state.peer_certificates() {
            Some(chain) if !resumed => chain.iter().map(der_length).collect(),
            _ => Vec::new(),
        },
    }
}
