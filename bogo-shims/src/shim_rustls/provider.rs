//! The cryptography provider of rustls: aws-lc-rs, or ring.

use rustls::crypto::{CryptoProvider, hpke::Hpke};

#[cfg(not(feature = "rustls-ring"))]
pub(crate) use rustls::crypto::aws_lc_rs as backend;
#[cfg(feature = "rustls-ring")]
pub(crate) use rustls::crypto::ring as backend;

/// Returns the provider with all of its suites.
pub(crate) fn provider() -> CryptoProvider {
    CryptoProvider {
        cipher_suites: backend::ALL_CIPHER_SUITES.to_vec(),
        ..backend::default_provider()
    }
}

/// Returns the suites of Encrypted ClientHello; ring has none.
#[cfg(not(feature = "rustls-ring"))]
pub(crate) fn hpke_suites() -> &'static [&'static dyn Hpke] {
    backend::hpke::ALL_SUPPORTED_SUITES
}

#[cfg(feature = "rustls-ring")]
pub(crate) fn hpke_suites() -> &'static [&'static dyn Hpke] {
    &[]
}
