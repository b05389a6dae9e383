use netbench_model::{Group, Negotiated, SignatureScheme, Suite};
use openssl::{
    nid::Nid,
    ssl::{SslRef, SslVersion},
    x509::X509Ref,
};

use crate::ffi;

/// `NID_rsassaPss` of openssl/obj_mac.h.
const RSA_PSS: i32 = 912;

/// `NID_ED25519` of openssl/obj_mac.h.
const ED25519: i32 = 1087;

/// OpenSSL's own name of a suite before TLS 1.3; those of TLS 1.3 have their IANA names.
pub(crate) fn openssl_suite(suite: Suite) -> &'static str {
    match suite {
        Suite::EcdsaAes128Gcm => "ECDHE-ECDSA-AES128-GCM-SHA256",
        Suite::RsaAes128Gcm => "ECDHE-RSA-AES128-GCM-SHA256",
        Suite::EcdsaChaCha => "ECDHE-ECDSA-CHACHA20-POLY1305",
        Suite::RsaChaCha => "ECDHE-RSA-CHACHA20-POLY1305",
        Suite::EcdsaAes256Gcm => "ECDHE-ECDSA-AES256-GCM-SHA384",
        Suite::RsaAes256Gcm => "ECDHE-RSA-AES256-GCM-SHA384",
        Suite::RsaAes128Cbc => "ECDHE-RSA-AES128-SHA256",
        Suite::DheRsaAes128Gcm => "DHE-RSA-AES128-GCM-SHA256",
        Suite::PlainRsaAes128Gcm => "AES128-GCM-SHA256",
        Suite::Aes128Gcm13 | Suite::ChaCha13 | Suite::Aes256Gcm13 => suite.name(),
    }
}

/// A list of groups as `SSL_CTX_set1_groups_list` reads it.
///
/// A client sends a key share for the first. Where that is a hybrid with x25519 in it and x25519 is
/// offered too, it sends one for both, as rustls and browsers do: `*` says so, from OpenSSL 3.5 on.
pub(crate) fn groups_list(groups: &[Group]) -> String {
    let hybrid = groups.first() == Some(&Group::X25519MlKem768) && groups.contains(&Group::X25519);
    let name = |group: &Group| match group {
        Group::X25519MlKem768 if hybrid => "*X25519MLKEM768",
        Group::X25519 if hybrid => "*X25519",
        Group::X25519 => "X25519",
        other => other.name(),
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
    let version = match ssl.version2() {
        Some(SslVersion::TLS1_3) => "1.3".to_owned(),
        Some(SslVersion::TLS1_2) => "1.2".to_owned(),
        _ => ssl.version_str().to_owned(),
    };
    // A session of TLS 1.2 that is resumed exchanges no keys; OpenSSL remembers the old group.
    let group = if resumed && version == "1.2" {
        None
    } else {
        ffi::group(ssl)
    };
    let suite = ssl
        .current_cipher()
        .and_then(|cipher| cipher.standard_name());
    let suite = suite.unwrap_or_default();
    // A server that decrypts with its RSA key has chosen a scheme, but signs nothing.
    let unsigned = resumed || suite.starts_with("TLS_RSA_");
    Negotiated {
        version,
        suite: suite.to_owned(),
        group,
        signature: if unsigned {
            None
        } else {
            ffi::server_signature(ssl, side).map(scheme)
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

/// The scheme (RFC 8446 section 4.2.3) of a signature with this hash and this type of key.
fn scheme((hash, key): (i32, i32)) -> String {
    let ec = Nid::X9_62_ID_ECPUBLICKEY.as_raw();
    let rsa = Nid::RSAENCRYPTION.as_raw();
    let hash_is = |nid: Nid| hash == nid.as_raw();
    let known = match key {
        ED25519 => Some(SignatureScheme::Ed25519),
        RSA_PSS if hash_is(Nid::SHA256) => Some(SignatureScheme::RsaPssRsaeSha256),
        RSA_PSS if hash_is(Nid::SHA384) => Some(SignatureScheme::RsaPssRsaeSha384),
        RSA_PSS if hash_is(Nid::SHA512) => Some(SignatureScheme::RsaPssRsaeSha512),
        k if k == rsa && hash_is(Nid::SHA256) => Some(SignatureScheme::RsaPkcs1Sha256),
        k if k == rsa && hash_is(Nid::SHA384) => Some(SignatureScheme::RsaPkcs1Sha384),
        k if k == rsa && hash_is(Nid::SHA512) => Some(SignatureScheme::RsaPkcs1Sha512),
        k if k == ec && hash_is(Nid::SHA256) => Some(SignatureScheme::EcdsaSecp256r1Sha256),
        k if k == ec && hash_is(Nid::SHA384) => Some(SignatureScheme::EcdsaSecp384r1Sha384),
        _ => None,
    };
    known.map_or_else(
        || format!("nid {key} with nid {hash}"),
        |scheme| scheme.name().to_owned(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_shares_are_asked_for_as_rustls_sends_them() {
        use Group::{Secp256r1 as P256, X25519 as X, X25519MlKem768 as Hybrid};
        let cases: [(&[Group], &str); 4] = [
            (&[Hybrid, X, P256], "*X25519MLKEM768:*X25519:secp256r1"),
            (&[Hybrid, P256], "X25519MLKEM768:secp256r1"),
            (&[X, Hybrid, P256], "X25519:X25519MLKEM768:secp256r1"),
            (&[P256, X], "secp256r1:X25519"),
        ];
        for (groups, list) in cases {
            assert_eq!(groups_list(groups), list);
        }
    }
}
