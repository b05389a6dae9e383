//! OpenSSL before 4.0 has no Encrypted ClientHello.

use netbench_tls::EchStatus;
use netbench_worker::{ClientSetup, SetupError};
use openssl::ssl::{SslContextBuilder, SslRef};

/// The operations of workers whose library has it.
pub(crate) const OPERATIONS: [&str; 0] = [];

/// The Encrypted ClientHello of a connector, of which there is none.
pub(crate) struct Offer;

impl Offer {
    /// Returns nothing: a worker that does not list the operation is given no configurations.
    pub(crate) fn of(
        _: &ClientSetup<'_>,
        _: &mut SslContextBuilder,
    ) -> Result<Option<Self>, SetupError> {
        Ok(None)
    }

    pub(crate) fn set(&self, _: &mut SslRef) -> Result<(), openssl::error::ErrorStack> {
        Ok(())
    }
}

/// Returns the outcome in a finished handshake.
pub(crate) fn status(_: &SslRef) -> Option<EchStatus> {
    None
}
