//! OpenSSL before 4.0 has no Encrypted ClientHello.

use netbench_protocol::Operation;
use netbench_tls::EchStatus;
use netbench_worker::{ClientSetup, ServerEchKey, SetupError};
use openssl::ssl::{SslContextBuilder, SslRef};

/// The operations of clients whose library has it.
pub(crate) const OF_CLIENTS: &[Operation] = &[];

/// The operation of servers whose library has it.
pub(crate) const OF_SERVERS: &[Operation] = &[];

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

/// Sets no key: a worker that does not list the operation is given none.
pub(crate) fn set_keys(_: &mut SslContextBuilder, _: &[ServerEchKey]) -> Result<(), SetupError> {
    Ok(())
}

/// Returns the outcome in a server's finished handshake.
pub(crate) fn served(_: &SslRef) -> Option<EchStatus> {
    None
}

/// Returns the outcome in a client's finished handshake.
pub(crate) fn status(_: &SslRef) -> Option<EchStatus> {
    None
}
