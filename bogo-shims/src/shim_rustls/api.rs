//! The parts of rustls' interface that differ between its lines, for the files that the shims of both lines share.

use rustls::{CommonState, HandshakeKind};

use crate::reported::{Known, Retry};

use super::expect::Properties;

pub(crate) use rustls::{
    CertificateCompressionAlgorithm, CipherSuite, NamedGroup, ProtocolVersion, SignatureScheme,
};

/// Returns the algorithm of certificate compression with this code point.
pub(crate) fn compression(code: u16) -> CertificateCompressionAlgorithm {
    CertificateCompressionAlgorithm::Unknown(code)
}

impl<'a> Properties<'a> {
    /// Returns the properties that every connection reports, over any transport. The other fields keep their
    /// values for a connection that lacks the property.
    pub(crate) fn of(connection: &'a CommonState) -> Self {
        let version = connection.protocol_version();
        let kind = connection.handshake_kind();
        let suite = connection.negotiated_cipher_suite();
        let group = connection.negotiated_key_exchange_group();
        Self {
            early: false,
            version,
            resumed: kind == Some(HandshakeKind::Resumed),
            retry: match kind {
                Some(HandshakeKind::FullWithHelloRetryRequest) => Known::Is(Retry::Was),
                Some(HandshakeKind::Resumed) if version != Some(ProtocolVersion::TLSv1_2) => {
                    Known::Unreported("whether a resumption began with a HelloRetryRequest")
                }
                _ => Known::Is(Retry::WasNot),
            },
            suite: suite.map(|suite| suite.suite()),
            group: group.map(|group| group.name()),
            alpn: connection.alpn_protocol(),
            server_name: None,
            peer: connection.peer_certificates().map(Into::into),
            early_data_accepted: false,
            ech: None,
        }
    }
}
