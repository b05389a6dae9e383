use netbench_tls::{CipherSuite, Group};
use openssl::ssl::{SslCipherRef, cipher_name};

use crate::line;

/// Returns OpenSSL's own name of a suite before TLS 1.3; the suites of TLS 1.3 have their
/// registered names.
pub(crate) fn openssl_name(suite: CipherSuite) -> &'static str {
    let name = suite.name().unwrap_or_default();
    if suite.is_tls13() {
        name
    } else {
        cipher_name(name)
    }
}

/// Joins names in the format of OpenSSL's lists.
pub(crate) fn list<T: ToString>(values: &[T]) -> String {
    values
        .iter()
        .map(T::to_string)
        .collect::<Vec<_>>()
        .join(":")
}

/// Formats a list of groups for `SSL_CTX_set1_groups_list`.
///
/// A client sends a key share for the first. Where that is a hybrid with x25519 and x25519 is
/// offered too, it sends one for both, as rustls and browsers do: `*` requests this, from OpenSSL
/// 3.5 on.
pub(crate) fn groups_list(groups: &[Group]) -> String {
    let hybrid = groups.first() == Some(&Group::X25519MLKEM768) && groups.contains(&Group::X25519);
    let names = groups.iter().map(|group| match *group {
        Group::X25519MLKEM768 if hybrid => "*X25519MLKEM768".to_owned(),
        Group::X25519 if hybrid => "*X25519".to_owned(),
        other => line::group_name(other),
    });
    names.collect::<Vec<_>>().join(":")
}

/// Returns a suite's code point.
pub(crate) fn cipher_suite(cipher: &SslCipherRef) -> CipherSuite {
    CipherSuite(u16::from_be_bytes(cipher.protocol_id()))
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
