use netbench_worker::{ChainInDer, ChainVerifier, NotVerified};

use crate::connect;

/// webpki, as this line's clients have it.
pub(crate) struct WebPki;

impl ChainVerifier for WebPki {
    fn verify(&self, chain: &ChainInDer) -> Result<(), NotVerified> {
        connect::verify(chain)
    }
}
