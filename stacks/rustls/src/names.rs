use netbench_model::Negotiated;
use rustls::{CipherSuite, CommonState, HandshakeKind, NamedGroup, ProtocolVersion};

/// A suite's IANA name: rustls spells the TLS 1.3 ones with a prefix of its own.
pub(crate) fn suite(suite: CipherSuite) -> String {
    let name = suite
        .as_str()
        .map_or_else(|| format!("{:#06x}", u16::from(suite)), str::to_owned);
    name.replacen("TLS13_", "TLS_", 1)
}

/// A group's IANA name.
pub(crate) fn group(group: NamedGroup) -> String {
    match group {
        NamedGroup::X25519 => "x25519".to_owned(),
        other => other
            .as_str()
            .map_or_else(|| format!("{:#06x}", u16::from(other)), str::to_owned),
    }
}

/// A signature scheme's name in RFC 8446: rustls has the same in capitals, but for ECDSA's curves.
pub(crate) fn scheme(scheme: rustls::SignatureScheme) -> String {
    use rustls::SignatureScheme as S;
    let name = match scheme {
        S::ECDSA_NISTP256_SHA256 => "ecdsa_secp256r1_sha256",
        S::ECDSA_NISTP384_SHA384 => "ecdsa_secp384r1_sha384",
        S::ECDSA_NISTP521_SHA512 => "ecdsa_secp521r1_sha512",
        S::RSA_PSS_SHA256 => "rsa_pss_rsae_sha256",
        S::RSA_PSS_SHA384 => "rsa_pss_rsae_sha384",
        S::RSA_PSS_SHA512 => "rsa_pss_rsae_sha512",
        S::RSA_PKCS1_SHA256 => "rsa_pkcs1_sha256",
        S::RSA_PKCS1_SHA384 => "rsa_pkcs1_sha384",
        S::RSA_PKCS1_SHA512 => "rsa_pkcs1_sha512",
        S::ED25519 => "ed25519",
        other => return format!("{:#06x}", u16::from(other)),
    };
    name.to_owned()
}

/// What one side of a finished handshake says was agreed.
pub(crate) fn negotiated(state: &CommonState, suite_used: Option<CipherSuite>) -> Negotiated {
    let resumed = state.handshake_kind() == Some(HandshakeKind::Resumed);
    Negotiated {
        version: match state.protocol_version() {
            Some(ProtocolVersion::TLSv1_3) => "1.3".to_owned(),
            Some(ProtocolVersion::TLSv1_2) => "1.2".to_owned(),
            other => format!("{other:?}"),
        },
        suite: suite_used.map(suite).unwrap_or_default(),
        group: state
            .negotiated_key_exchange_group()
            .map(|kx| group(kx.name())),
        signature: None,
        alpn: state
            .alpn_protocol()
            .map(|name| String::from_utf8_lossy(name).into_owned()),
        resumed,
        // A resumed session remembers the chain, which did not cross the wire again.
        chain_bytes: match state.peer_certificates() {
            Some(chain) if !resumed => chain
                .iter()
                .map(|der| u32::try_from(der.len()).unwrap_or(u32::MAX))
                .collect(),
            _ => Vec::new(),
        },
    }
}
