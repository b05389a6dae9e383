use netbench_protocol::ServeSite;

use crate::{SetupError, of_base64};

/// A key of a server with Encrypted ClientHello.
pub struct ServerEchKey {
    /// The ECHConfig (RFC 9849 section 4).
    pub config: Vec<u8>,
    /// The private key of X25519.
    pub private_key: Vec<u8>,
}

/// Returns the keys with which a site's server decrypts hellos.
///
/// # Errors
/// A key is not in base64.
pub fn ech_keys(site: &ServeSite) -> Result<Vec<ServerEchKey>, SetupError> {
    let keys = site.ech_keys.iter();
    keys.map(|key| {
        Ok(ServerEchKey {
            config: of_base64("ECH key", &key.config_base64)?,
            private_key: of_base64("ECH key", &key.private_key_base64)?,
        })
    })
    .collect()
}
