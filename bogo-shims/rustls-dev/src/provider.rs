//! The cryptography provider of rustls: ring.

use std::borrow::Cow;

use rustls::crypto::CryptoProvider;
use rustls_ring::{ALL_TLS12_CIPHER_SUITES, ALL_TLS13_CIPHER_SUITES, DEFAULT_PROVIDER};

/// Returns the provider with all of its suites.
pub(crate) fn provider() -> CryptoProvider {
    CryptoProvider {
        tls12_cipher_suites: Cow::Borrowed(ALL_TLS12_CIPHER_SUITES),
        tls13_cipher_suites: Cow::Borrowed(ALL_TLS13_CIPHER_SUITES),
        ..DEFAULT_PROVIDER
    }
}
