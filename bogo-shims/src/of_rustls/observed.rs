use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

/// Observations of the callbacks of one connection.
#[derive(Debug, Default)]
pub struct Observed(Mutex<Observations>);

/// The reports of the callbacks so far.
#[derive(Debug, Default)]
pub struct Observations {
    /// The stapled OCSP response that the verifier received.
    pub ocsp: Option<Vec<u8>>,
    /// The name that the verifier had to check.
    pub verified_name: Option<String>,
    /// The code point of the scheme of the peer's signature.
    pub signature: Option<u16>,
    /// The list of protocols in the ClientHello, as on the wire.
    pub client_alpn: Option<Vec<u8>>,
    /// The distinguished names in the server's certificate_authorities.
    pub ca_names: Option<Vec<Vec<u8>>>,
    /// Whether the client stored a session, and the early data that it permits, in bytes.
    pub new_session: Option<u32>,
    /// Whether the server stored a session.
    pub stored: bool,
    /// Whether the application's ticket producer was called.
    pub tickets_called: bool,
    /// Whether the verifier was called, and accepted the chain.
    pub verified: bool,
    /// Whether the resolver was called for a certificate.
    pub asked: bool,
    /// The code point of the suite of the session that was offered.
    pub offered_suite: Option<u16>,
    /// Traffic secrets by their label (NSS key log format).
    pub secrets: BTreeMap<String, Vec<u8>>,
}

impl Observed {
    /// Returns the observations so far, for this thread alone.
    pub fn get(&self) -> MutexGuard<'_, Observations> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records the protocols of a ClientHello, as on the wire. Returns `None` for one that is too long for it.
    pub fn record_alpn<'p>(&self, protocols: impl Iterator<Item = &'p [u8]>) -> Option<()> {
        let mut wire = Vec::new();
        for protocol in protocols {
            wire.push(u8::try_from(protocol.len()).ok()?);
            wire.extend(protocol);
        }
        self.get().client_alpn = Some(wire);
        Some(())
    }
}
