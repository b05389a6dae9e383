//! The cryptography provider of rustls: aws-lc-rs, or ring.

use rustls::{
    CipherSuite,
    crypto::{CryptoProvider, hpke::Hpke},
};

use crate::Failure;

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

/// Returns the SHA-256 of `data`, by the hash of a suite.
pub(crate) fn sha256(data: &[u8]) -> Result<Vec<u8>, Failure> {
    let suites = provider().cipher_suites;
    let suite = suites.iter().find_map(|suite| {
        let suite = suite.tls13()?;
        (suite.common.suite == CipherSuite::TLS13_AES_128_GCM_SHA256).then_some(suite)
    });
    let suite = suite.ok_or_else(|| Failure::failed("no SHA-256"))?;
    Ok(suite.common.hash_provider.hash(data).as_ref().to_vec())
}
