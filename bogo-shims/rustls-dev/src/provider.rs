//! The cryptography provider of rustls: ring.

use std::borrow::Cow;

use netbench_bogo_shims::Failure;
use rustls::crypto::{CipherSuite, CryptoProvider};
use rustls_ring::{ALL_TLS12_CIPHER_SUITES, ALL_TLS13_CIPHER_SUITES, DEFAULT_PROVIDER};

/// Returns the provider with all of its suites.
pub(crate) fn provider() -> CryptoProvider {
    CryptoProvider {
        tls12_cipher_suites: Cow::Borrowed(ALL_TLS12_CIPHER_SUITES),
        tls13_cipher_suites: Cow::Borrowed(ALL_TLS13_CIPHER_SUITES),
        ..DEFAULT_PROVIDER
    }
}

/// Returns the SHA-256 of `data`, by the hash of a suite.
pub(crate) fn sha256(data: &[u8]) -> Result<Vec<u8>, Failure> {
    let mut suites = ALL_TLS13_CIPHER_SUITES.iter();
    let suite = suites.find(|suite| suite.common.suite == CipherSuite::TLS13_AES_128_GCM_SHA256);
    let suite = suite.ok_or_else(|| Failure::failed("no SHA-256"))?;
    Ok(suite.common.hash_provider.hash(data).as_ref().to_vec())
}
