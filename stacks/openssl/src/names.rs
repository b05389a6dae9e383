use netbench_model::{
    CipherSuite, Group, Negotiated, SignatureScheme, TlsVersion, tls::CipherSuiteFacts,
};
use openssl::{
    nid::Nid,
    ssl::{SslCipherRef, SslRef, SslVersion, cipher_name},
    x509::X509Ref,
};

use crate::ffi;

/// `NID_rsassaPss` of openssl/obj_mac.h.
const RSA_PSS: Nid = Nid::from_raw(912);

/// `NID_ED25519` of openssl/obj_mac.h.
const ED25519: Nid = Nid::from_raw(1087);

/// `NID_ED448` of openssl/obj_mac.h.
const ED448: Nid = Nid::from_raw(1088);

/// The versions as the openssl crate has them.
const VERSIONS: [(TlsVersion, SslVersion); 5] = [
    (TlsVersion::Ssl3, SslVersion::SSL3),
    (TlsVersion::Tls10, SslVersion::TLS1),
    (TlsVersion::Tls11, SslVersion::TLS1_1),
    (TlsVersion::Tls12, SslVersion::TLS1_2),
    (TlsVersion::Tls13, SslVersion::TLS1_3),
];

/// The version as the openssl crate has it.
pub(crate) fn openssl_version(version: TlsVersion) -> SslVersion {
    let found = VERSIONS.iter().find(|(ours, _)| *ours == version);
    found.map_or(SslVersion::TLS1_3, |(_, theirs)| *theirs)
}

/// OpenSSL's own name of a suite before TLS 1.3; those of TLS 1.3 have their registered names.
pub(crate) fn openssl_name(suite: CipherSuite) -> &'static str {
    let name = suite.name().unwrap_or_default();
    if suite.is_tls13() {
        name
    } else {
        cipher_name(name)
    }
}

/// Names as OpenSSL reads lists of them.
pub(crate) fn list<T: ToString>(values: &[T]) -> String {
    values
        .iter()
        .map(T::to_string)
        .collect::<Vec<_>>()
        .join(":")
}

/// A list of groups as `SSL_CTX_set1_groups_list` reads it.
///
/// A client sends a key share for the first. Where that is a hybrid with x25519 in it and x25519 is
/// offered too, it sends one for both, as rustls and browsers do: `*` says so, from OpenSSL 3.5 on.
pub(crate) fn groups_list(groups: &[Group]) -> String {
    let hybrid = groups.first() == Some(&Group::X25519MLKEM768) && groups.contains(&Group::X25519);
    let name = |group: &Group| match *group {
        Group::X25519MLKEM768 if hybrid => "*X25519MLKEM768".to_owned(),
        Group::X25519 if hybrid => "*X25519".to_owned(),
        Group::X25519 => "X25519".to_owned(),
        other => other.to_string(),
    };
    groups.iter().map(name).collect::<Vec<_>>().join(":")
}

/// Which side of a connection is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Client,
    Server,
}

/// What one side of a finished handshake says was agreed.
pub(crate) fn negotiated(ssl: &SslRef, side: Side) -> Negotiated {
    let resumed = ssl.session_reused();
    let version = ssl.version2().and_then(|theirs| {
        let found = VERSIONS.iter().find(|(_, known)| *known == theirs);
        found.map(|(ours, _)| *ours)
    });
    // A session of TLS 1.2 that is resumed exchanges no keys; OpenSSL remembers the old group.
    let group = if resumed && version == Some(TlsVersion::Tls12) {
        None
    } else {
        ffi::group(ssl)
    };
    let suite = ssl.current_cipher().map(cipher_suite);
    // A server that decrypts with its RSA key has chosen a scheme, but signs nothing.
    let facts = suite.and_then(CipherSuite::facts);
    let is_signed = facts.is_some_and(CipherSuiteFacts::is_signed);
    Negotiated {
        version,
        suite,
        group,
        signature: if resumed || !is_signed {
            None
        } else {
            ffi::server_signature(ssl, side).and_then(scheme)
        },
        alpn: ssl
            .selected_alpn_protocol()
            .map(|name| String::from_utf8_lossy(name).into_owned()),
        resumed,
        chain_bytes: if resumed {
            Vec::new()
        } else {
            peer_chain(ssl, side)
        },
    }
}

/// The bytes of each certificate that the other side sent. A server's list of its client's leaves the
/// leaf out.
fn peer_chain(ssl: &SslRef, side: Side) -> Vec<u32> {
    let bytes = |x509: &X509Ref| ffi::der_bytes(x509).unwrap_or(0);
    let leaf = (side == Side::Server)
        .then(|| ssl.peer_certificate())
        .flatten();
    let chain = ssl.peer_cert_chain().into_iter().flatten();
    leaf.iter()
        .map(|leaf| bytes(leaf))
        .chain(chain.map(bytes))
        .collect()
}

/// A suite's code point.
pub(crate) fn cipher_suite(cipher: &SslCipherRef) -> CipherSuite {
    CipherSuite(u16::from_be_bytes(cipher.protocol_id()))
}

/// The scheme (RFC 8446 section 4.2.3) of a signature with this hash and this type of key, as OpenSSL's
/// NIDs; none for pairs that none of the schemes of TLS 1.3 has.
fn scheme((hash, key): (i32, i32)) -> Option<SignatureScheme> {
    const EC: Nid = Nid::X9_62_ID_ECPUBLICKEY;
    const RSA: Nid = Nid::RSAENCRYPTION;
    Some(match (Nid::from_raw(key), Nid::from_raw(hash)) {
        (ED25519, _) => SignatureScheme::ED25519,
        (ED448, _) => SignatureScheme::ED448,
        (RSA_PSS, Nid::SHA256) => SignatureScheme::RSA_PSS_RSAE_SHA256,
        (RSA_PSS, Nid::SHA384) => SignatureScheme::RSA_PSS_RSAE_SHA384,
        (RSA_PSS, Nid::SHA512) => SignatureScheme::RSA_PSS_RSAE_SHA512,
        (RSA, Nid::SHA1) => SignatureScheme::RSA_PKCS1_SHA1,
        (RSA, Nid::SHA256) => SignatureScheme::RSA_PKCS1_SHA256,
        (RSA, Nid::SHA384) => SignatureScheme::RSA_PKCS1_SHA384,
        (RSA, Nid::SHA512) => SignatureScheme::RSA_PKCS1_SHA512,
        (EC, Nid::SHA256) => SignatureScheme::ECDSA_SECP256R1_SHA256,
        (EC, Nid::SHA384) => SignatureScheme::ECDSA_SECP384R1_SHA384,
        (EC, Nid::SHA512) => SignatureScheme::ECDSA_SECP521R1_SHA512,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_shares_are_asked_for_as_rustls_sends_them() {
        const P256: Group = Group::SECP256R1;
        const X: Group = Group::X25519;
        const HYBRID: Group = Group::X25519MLKEM768;
        let cases: [(&[Group], &str); 4] = [
            (&[HYBRID, X, P256], "*X25519MLKEM768:*X25519:secp256r1"),
            (&[HYBRID, P256], "X25519MLKEM768:secp256r1"),
            (&[X, HYBRID, P256], "X25519:X25519MLKEM768:secp256r1"),
            (&[P256, X], "secp256r1:X25519"),
        ];
        for (groups, list) in cases {
            assert_eq!(groups_list(groups), list);
        }
    }
}
