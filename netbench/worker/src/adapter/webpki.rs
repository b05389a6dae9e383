use std::{
    fmt::{Debug, Display},
    time::Duration,
};

use netbench_tls::{CertificateFault, FailureWord};
use rustls_pki_types::UnixTime;

use crate::{ChainInDer, NotVerified, SetupError, Verifier, failed, refused};

/// The verifier of a line of rustls, whose types differ between lines.
pub trait WebPki: Send + Sync {
    /// The name of a server.
    type Name: Send + Sync + 'static;
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

/// Makes a verifier of the chains of `host`.
///
/// # Errors
/// A name that the library does not accept.
pub fn chains_of_server<V: WebPki + 'static>(
    verifier: V,
    host: &str,
) -> Result<Box<dyn Verifier>, SetupError> {
    let name = V::name(host).map_err(refused("host name"))?;
    Ok(Box::new(move |chain: &[Vec<u8>]| {
        let (leaf, above) = chain
            .split_first()
            .ok_or("an empty chain")
            .map_err(failed(FailureWord::Verify))?;
        verifier
            .verify(leaf, above, &name, UnixTime::now())
            .map_err(failed(FailureWord::Verify))
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SessionError;

    /// Accepts a leaf of one byte below as many certificates as the byte says, at one time.
    struct Fake;

    const AT_UNIX_S: u64 = 7;

    impl WebPki for Fake {
        type Name = String;
        type Error = String;

        fn name(host: &str) -> Result<String, impl Display> {
            if host.is_empty() {
                Err("no name")
            } else {
                Ok(host.to_owned())
            }
        }

        fn verify(
            &self,
            leaf: &[u8],
            above: &[Vec<u8>],
            name: &String,
            at: UnixTime,
        ) -> Result<(), String> {
            assert_eq!(name, "a.test");
            match *leaf {
                [count] if usize::from(count) == above.len() && at.as_secs() == AT_UNIX_S => Ok(()),
                _ => Err("refused".to_owned()),
            }
        }
    }

    fn verified(host: &str, sent: &[&[u8]]) -> Result<(), NotVerified> {
        let chain = ChainInDer {
            sent: sent.iter().map(|der| der.to_vec()).collect(),
            roots: Vec::new(),
            crls: Vec::new(),
            host: host.to_owned(),
            at_unix_s: AT_UNIX_S,
        };
        verify_chain(&Fake, &chain)
    }

    #[test]
    fn the_verifier_gets_the_leaf_the_rest_and_the_time() {
        assert_eq!(verified("a.test", &[&[0]]), Ok(()));
        assert_eq!(verified("a.test", &[&[2], &[], &[]]), Ok(()));
        let refused = NotVerified::Rejected(CertificateFault::Other, "refused".to_owned());
        assert_eq!(verified("a.test", &[&[1]]), Err(refused));
    }

    #[test]
    fn names_and_empty_chains_are_refused_before() {
        let no_name = NotVerified::Rejected(CertificateFault::WrongName, "no name".to_owned());
        assert_eq!(verified("", &[&[0]]), Err(no_name));
        let empty = NotVerified::Unsupported("an empty chain".to_owned());
        assert_eq!(verified("a.test", &[]), Err(empty));
        let chains = chains_of_server(Fake, "a.test").unwrap();
        let due = SessionError::new(FailureWord::Verify, "an empty chain");
        assert_eq!(chains.verify(&[]), Err(due));
        // The present is another time than the fake's.
        let due = SessionError::new(FailureWord::Verify, "refused");
        assert_eq!(chains.verify(&[vec![0]]), Err(due));
    }
}
