use netbench_worker::{ChainInDer, ChainVerifier, NotVerified};

use crate::connect;

/// A verifier by webpki, as in this line's clients.
pub(crate) struct WebPki;

impl ChainVerifier for WebPki {
    fn verify(&self, chain: &ChainInDer) -> Result<(), NotVerified> {
        connect::verify(chain)
    }
}
