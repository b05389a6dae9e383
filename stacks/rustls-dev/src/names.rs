use netbench_tls::{CipherSuite, Group, Negotiated, TlsVersion};
use netbench_worker::{alpn_text, der_length};
use rustls::{
    ConnectionOutputs, HandshakeKind,
    crypto::{CertificateIdentity, Identity},
};

/// Returns the negotiated parameters according to one side of a finished handshake.
pub(crate) fn negotiated(session: &ConnectionOutputs) -> Negotiated {
    let resumed = resumed(session);
    let version = session.protocol_version();
    let suite = session.negotiated_cipher_suite();
    let group = session.negotiated_key_exchange_group();
    Negotiated {
        version: version.and_then(|version| TlsVersion::of(version.0)),
        suite: suite.map(|suite| CipherSuite(suite.suite().0)),
        group: group.map(|kx| Group(kx.name().0)),
        alpn: alpn_text(session.alpn_protocol()),
        resumed,
        // A resumed session remembers the chain, which was not sent again.
        chain_bytes: match session.peer_identity().map(|peer| peer.identity()) {
            Some(Identity::X509(chain)) if !resumed => lengths(chain),
            _ => Vec::new(),
        },
        ..Negotiated::default()
    }
}

pub(crate) fn resumed(session: &ConnectionOutputs) -> bool {
    matches!(
        session.handshake_kind(),
        Some(HandshakeKind::Resumed | HandshakeKind::ResumedWithHelloRetryRequest)
    )
}

fn lengths(chain: &CertificateIdentity<'_>) -> Vec<u32> {
    let all = [&chain.end_entity].into_iter().chain(&chain.intermediates);
    all.map(der_length).collect()
}
