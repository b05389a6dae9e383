//! The negotiated parameters of a handshake.

use netbench_libssl::{Side, peer_chain};
use netbench_tls::{CipherSuite, CipherSuiteFacts, Negotiated, SignatureScheme, TlsVersion};
use openssl::{nid::Nid, ssl::SslRef};

use crate::{
    ffi, line,
    names::{cipher_suite, version},
};

/// `NID_rsassaPss` of openssl/obj_mac.h.
const RSA_PSS: Nid = Nid::from_raw(912);

/// `NID_ED25519` of openssl/obj_mac.h.
const ED25519: Nid = Nid::from_raw(1087);

/// `NID_ED448` of openssl/obj_mac.h.
const ED448: Nid = Nid::from_raw(1088);

/// Returns the negotiated parameters according to one side of a finished handshake.
pub(crate) fn negotiated(ssl: &SslRef, side: Side) -> Negotiated {
    let resumed = ssl.session_reused();
    let version = ssl.version2().and_then(version);
    // A resumed session of TLS 1.2 has no key exchange; OpenSSL remembers the old group.
    let group = if resumed && version == Some(TlsVersion::Tls12) {
        None
    } else {
        line::group(ssl, side)
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

/// Returns the scheme (RFC 8446 section 4.2.3) of a signature with this hash and this type of key, as
/// OpenSSL's NIDs, or `None` for pairs that no scheme of TLS 1.3 has.
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
