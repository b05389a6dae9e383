//! The types of keys of leaves and CAs.

use crate::{KeyType, shown};

/// The beginnings of the names of SLH-DSA (FIPS 205) and of SPHINCS+, from which it was made.
const SLH_DSA: [&str; 3] = ["slh-dsa", "slhdsa", "sphincs"];

/// Parses the type of a key.
///
/// The error for SLH-DSA states why no site has such a key. OpenSSL signs with it since 3.5, but neither OpenSSL 4.0 nor
/// another stack has its signature schemes for TLS, which only a draft defines (draft-reddy-tls-slhdsa).
pub(super) fn key_type(text: &str) -> Result<KeyType, String> {
    let lower = text.to_ascii_lowercase();
    if SLH_DSA.iter().any(|name| lower.starts_with(name)) {
        return Err(format!(
            "no stack serves {}: none has a signature scheme of SLH-DSA for TLS, and the lab has no such CAs; expected \
             another type, such as mldsa-65",
            shown(text)
        ));
    }
    text.parse()
}

/// Parses the type of the CAs' keys, which is `None` for the usual one.
pub(super) fn ca_key_type(text: &str) -> Result<Option<KeyType>, String> {
    match text {
        "default" => Ok(None),
        key => match key_type(key) {
            Ok(key) => Ok(Some(key)),
            Err(error) => Err(format!("{error}; or default")),
        },
    }
}
