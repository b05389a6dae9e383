//! Code points of TLS by their registered names, where OpenSSL uses these names.

use netbench_tls::{CipherSuite, Group, SignatureScheme};
use openssl::nid::Nid;

const GROUPS: [&str; 11] = [
    "secp256r1",
    "secp384r1",
    "secp521r1",
    "x25519",
    "x448",
    "MLKEM512",
    "MLKEM768",
    "MLKEM1024",
    "SecP256r1MLKEM768",
    "X25519MLKEM768",
    "SecP384r1MLKEM1024",
];

const SIGNATURES: [&str; 15] = [
    "rsa_pkcs1_sha1",
    "ecdsa_sha1",
    "rsa_pkcs1_sha256",
    "ecdsa_secp256r1_sha256",
    "rsa_pkcs1_sha384",
    "ecdsa_secp384r1_sha384",
    "rsa_pkcs1_sha512",
    "ecdsa_secp521r1_sha512",
    "rsa_pss_rsae_sha256",
    "rsa_pss_rsae_sha384",
    "rsa_pss_rsae_sha512",
    "ed25519",
    "mldsa44",
    "mldsa65",
    "mldsa87",
];

const TLS13_SUITES: [CipherSuite; 3] = [
    CipherSuite::TLS_AES_128_GCM_SHA256,
    CipherSuite::TLS_AES_256_GCM_SHA384,
    CipherSuite::TLS_CHACHA20_POLY1305_SHA256,
];

pub(crate) fn group(code: u16) -> Option<&'static str> {
    Group(code).name().filter(|name| GROUPS.contains(name))
}

/// Returns the code point of a group by OpenSSL's name, which may differ in case from the registered one.
pub(crate) fn group_code(name: &str) -> Option<u16> {
    let mut codes = Group::registered().map(|group| group.0);
    codes.find(|code| group(*code).is_some_and(|known| known.eq_ignore_ascii_case(name)))
}

pub(crate) fn signature(code: u16) -> Option<&'static str> {
    let name = SignatureScheme(code).name();
    name.filter(|name| SIGNATURES.contains(name))
}

/// Returns the code point of a scheme by OpenSSL's name.
pub(crate) fn signature_code(name: &str) -> Option<u16> {
    let mut codes = SignatureScheme::registered().map(|scheme| scheme.0);
    codes.find(|code| signature(*code) == Some(name))
}

/// Returns the scheme of a hash and a kind of signature, as libssl reports them before 3.5. Schemes of TLS 1.2
/// name no curve; the function returns the TLS 1.3 scheme with the same code point.
pub(crate) fn signature_of(hash: Nid, kind: Nid) -> Option<&'static str> {
    match (kind, hash) {
        (Nid::RSAENCRYPTION, Nid::SHA1) => Some("rsa_pkcs1_sha1"),
        (Nid::RSAENCRYPTION, Nid::SHA256) => Some("rsa_pkcs1_sha256"),
        (Nid::RSAENCRYPTION, Nid::SHA384) => Some("rsa_pkcs1_sha384"),
        (Nid::RSAENCRYPTION, Nid::SHA512) => Some("rsa_pkcs1_sha512"),
        (Nid::RSASSAPSS, Nid::SHA256) => Some("rsa_pss_rsae_sha256"),
        (Nid::RSASSAPSS, Nid::SHA384) => Some("rsa_pss_rsae_sha384"),
        (Nid::RSASSAPSS, Nid::SHA512) => Some("rsa_pss_rsae_sha512"),
        (Nid::X9_62_ID_ECPUBLICKEY, Nid::SHA1) => Some("ecdsa_sha1"),
        (Nid::X9_62_ID_ECPUBLICKEY, Nid::SHA256) => Some("ecdsa_secp256r1_sha256"),
        (Nid::X9_62_ID_ECPUBLICKEY, Nid::SHA384) => Some("ecdsa_secp384r1_sha384"),
        (Nid::X9_62_ID_ECPUBLICKEY, Nid::SHA512) => Some("ecdsa_secp521r1_sha512"),
        (kind, Nid::UNDEF) if kind.as_raw() == openssl_sys::EVP_PKEY_ED25519 => Some("ed25519"),
        _ => None,
    }
}

pub(crate) fn tls13_suite(code: u16) -> Option<&'static str> {
    let suite = CipherSuite(code);
    suite.name().filter(|_| TLS13_SUITES.contains(&suite))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_registered() {
        assert!(
            GROUPS
                .iter()
                .all(|name| group_code(name).and_then(group) == Some(*name))
        );
        let found = SignatureScheme::registered().filter(|scheme| signature(scheme.0).is_some());
        assert_eq!(found.count(), SIGNATURES.len());
        assert_eq!(group_code("x25519mlkem768"), Some(0x11ec));
        assert_eq!(signature(0x0804), Some("rsa_pss_rsae_sha256"));
        assert_eq!(signature_code("rsa_pss_rsae_sha256"), Some(0x0804));
        assert_eq!(signature_code("rsa_pss_pss_sha256"), None);
        assert_eq!(tls13_suite(0x1303), Some("TLS_CHACHA20_POLY1305_SHA256"));
        let of_numbers = signature_of(Nid::SHA384, Nid::X9_62_ID_ECPUBLICKEY);
        assert_eq!(of_numbers, signature(0x0503));
        assert_eq!(signature_of(Nid::SHA1, Nid::RSASSAPSS), None);
        assert_eq!(
            (group(0x0100), signature(0x0808), tls13_suite(0x1304)),
            (None, None, None)
        );
    }
}
