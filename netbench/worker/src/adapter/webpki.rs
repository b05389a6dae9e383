use std::{
    fmt::{Debug, Display},
    time::Duration,
};

use netbench_tls::{CertificateFault, FailureWord};
use rustls_pki_types::UnixTime;

use crate::{ChainInDer, NotVerified, SessionError, SetupError, Verifier, failed, refused};

/// The verifier of a line of rustls, whose types differ between lines.
pub trait WebPki: Send + Sync {
    /// The name of a server.
    type Name: Send + Sync;
    /// The library's error.
    type Error: Debug + Display;

    /// Parses a host name or address; IPv6 without brackets.
    ///
    /// # Errors
    /// A name that the library does not accept.
    fn name(host: &str) -> Result<Self::Name, impl Display>;

    /// Verifies a server's certificate with the certificates `above` it.
    ///
    /// # Errors
    /// The chain is not valid.
    fn verify(
        &self,
        leaf: &[u8],
        above: &[Vec<u8>],
        name: &Self::Name,
        at: UnixTime,
    ) -> Result<(), Self::Error>;
}

impl NotVerified {
    /// Creates a rejection from an error of rustls.
    pub fn by_rustls(error: impl Debug + Display) -> Self {
        Self::Rejected(CertificateFault::of_rustls(&error), error.to_string())
    }
}

/// Verifies a chain, for [`ChainVerifier`](crate::ChainVerifier).
///
/// # Errors
/// The chain is not valid, or empty.
pub fn verify_chain<V: WebPki>(verifier: &V, chain: &ChainInDer) -> Result<(), NotVerified> {
    let name = V::name(&chain.host)
        .map_err(|e| NotVerified::Rejected(CertificateFault::WrongName, e.to_string()))?;
    let Some((leaf, above)) = chain.sent.split_first() else {
        return Err(NotVerified::Unsupported("an empty chain".to_owned()));
    };
    let at = UnixTime::since_unix_epoch(Duration::from_secs(chain.at_unix_s));
    verifier
        .verify(leaf, above, &name, at)
        .map_err(NotVerified::by_rustls)
}

/// A verifier of the chains of one server.
pub struct ChainsOfServer<V: WebPki> {
    verifier: V,
    name: V::Name,
}

impl<V: WebPki> ChainsOfServer<V> {
    /// Creates a verifier of the chains of `host`.
    ///
    /// # Errors
    /// A name that the library does not accept.
    pub fn new(verifier: V, host: &str) -> Result<Self, SetupError> {
        let name = V::name(host).map_err(refused("host name"))?;
        Ok(Self { verifier, name })
    }
}

impl<V: WebPki> Verifier for ChainsOfServer<V> {
    fn verify(&self, chain: &[Vec<u8>]) -> Result<(), SessionError> {
        let (leaf, above) = chain
            .split_first()
            .ok_or("an empty chain")
            .map_err(failed(FailureWord::Verify))?;
        self.verifier
            .verify(leaf, above, &self.name, UnixTime::now())
            .map_err(failed(FailureWord::Verify))
    }
}
