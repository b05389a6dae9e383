use std::{
    collections::BTreeMap,
    fmt,
    sync::{Mutex, MutexGuard, PoisonError},
};

use rustls::KeyLog;

use super::api::{CipherSuite, SignatureScheme};

/// Observations of the callbacks of one connection.
#[derive(Default)]
pub(crate) struct Observed {
    inner: Mutex<Observations>,
}

#[derive(Default)]
pub(crate) struct Observations {
    /// The stapled OCSP response that the verifier received.
    pub(crate) ocsp: Option<Vec<u8>>,
    /// The name that the verifier had to check.
    pub(crate) verified_name: Option<String>,
    /// The scheme of the peer's signature.
    pub(crate) signature: Option<SignatureScheme>,
    /// The list of protocols in the ClientHello, as on the wire.
    pub(crate) client_alpn: Option<Vec<u8>>,
    /// The distinguished names in the server's certificate_authorities.
    pub(crate) ca_names: Option<Vec<Vec<u8>>>,
    /// Whether the client stored a session, and the early data that it permits, in bytes.
    pub(crate) new_session: Option<u32>,
    /// Whether the server stored a session.
    pub(crate) stored: bool,
    /// Whether the application's ticket producer was called.
    pub(crate) tickets_called: bool,
    /// Whether the verifier was called, and accepted the chain.
    pub(crate) verified: bool,
    /// Whether the resolver was called for a certificate.
    pub(crate) asked: bool,
    /// The suite of the session that was offered.
    pub(crate) offered_suite: Option<CipherSuite>,
    /// Traffic secrets by their label (NSS key log format).
    pub(crate) secrets: BTreeMap<String, Vec<u8>>,
}

impl Observed {
    pub(crate) fn get(&self) -> MutexGuard<'_, Observations> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Observed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Observed")
    }
}

impl KeyLog for Observed {
    fn log(&self, label: &str, _client_random: &[u8], secret: &[u8]) {
        self.get().secrets.insert(label.to_owned(), secret.to_vec());
    }
}
