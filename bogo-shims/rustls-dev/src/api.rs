//! The parts of rustls' interface that differ between its lines, for the files that the shims of both lines share.

use std::borrow::Cow;

use rustls::{CommonState, HandshakeKind, crypto::Identity};
use rustls_pki_types::CertificateDer;

use crate::reported::{Known, Retry};

use super::expect::Properties;

pub(crate) use rustls::{
    crypto::{CipherSuite, SignatureScheme, kx::NamedGroup},
    enums::{CertificateCompressionAlgorithm, ProtocolVersion},
};

/// Returns the algorithm of certificate compression with this code point.
pub(crate) fn compression(code: u16) -> CertificateCompressionAlgorithm {
    CertificateCompressionAlgorithm(code)
}

impl<'a> Properties<'a> {
    /// Returns the properties that every connection reports. The other fields keep their values for a
    /// connection that lacks the property.
    pub(crate) fn of(connection: &'a CommonState) -> Self {
        let kind = connection.handshake_kind();
        let suite = connection.negotiated_cipher_suite();
        let group = connection.negotiated_key_exchange_group();
        Self {
            early: false,
            version: connection.protocol_version(),
            resumed: matches!(
                kind,
                Some(HandshakeKind::Resumed | HandshakeKind::ResumedWithHelloRetryRequest)
            ),
            retry: Known::Is(match kind {
                Some(
                    HandshakeKind::FullWithHelloRetryRequest
                    | HandshakeKind::ResumedWithHelloRetryRequest,
                ) => Retry::Was,
                _ => Retry::WasNot,
            }),
            suite: suite.map(|suite| suite.suite()),
            group: group.map(|group| group.name()),
            alpn: connection.alpn_protocol().map(AsRef::as_ref),
            server_name: None,
            peer: connection
                .peer_identity()
                .map(|peer| Cow::Owned(certificates(peer.identity()))),
            early_data_accepted: false,
            ech: None,
        }
    }
}

/// Returns the entries of the peer's certificate message: its chain, or its raw public key.
fn certificates(identity: &Identity<'static>) -> Vec<CertificateDer<'static>> {
    match identity {
        Identity::X509(chain) => {
            let first = chain.end_entity.clone();
            [vec![first], chain.intermediates.clone()].concat()
        }
        Identity::RawPublicKey(key) => vec![CertificateDer::from(key.as_ref().to_vec())],
        // The type may get more kinds; the expectations then differ from an empty list.
        _ => Vec::new(),
    }
}
