//! The settings that all lines take in the same way.

use std::sync::Arc;

use netbench_tls::{CipherSuite, HandshakeKind, Profile, SignatureScheme, TlsVersion};
use netbench_worker::{KEPT_SESSIONS, Parameters, Probe, SetupError, all_of, refused, supported};
#[cfg(not(feature = "rustls-0-20"))]
use rustls::client::Resumption;
#[cfg(feature = "rustls-0-20")]
use rustls::client::{ClientSessionMemoryCache, NoClientSessionStorage};
use rustls::{
    ClientConfig, ServerConfig, SupportedCipherSuite, SupportedProtocolVersion,
    server::{NoServerSessionStorage, ProducesTickets, ServerSessionMemoryCache},
    version::{TLS12, TLS13},
};

use crate::line::{ALL_CIPHER_SUITES, LINE, Ticketer, verifies};

/// The settings of a client, on connections and in memory.
pub(crate) struct Wanted<'a> {
    pub(crate) roots_pem: &'a str,
    /// With [`Profile::Library`], only the versions of the parameters apply.
    pub(crate) profile: Profile,
    pub(crate) parameters: Parameters,
    /// The probe that times verification.
    pub(crate) probe: Option<Probe>,
}

/// Returns the suites of the lab that the library supports.
pub(crate) fn suites() -> Vec<CipherSuite> {
    supported(CipherSuite::SERVED, has_suite)
}

pub(crate) fn has_suite(suite: CipherSuite) -> bool {
    library_suite(suite).is_some()
}

/// Returns the library's suites, in this order.
pub(crate) fn cipher_suites(
    wanted: &[CipherSuite],
) -> Result<Vec<SupportedCipherSuite>, SetupError> {
    all_of(wanted, library_suite, |suite| unsupported("suite", suite))
}

fn library_suite(suite: CipherSuite) -> Option<SupportedCipherSuite> {
    let mut all = ALL_CIPHER_SUITES.iter().copied();
    all.find(|known| known.suite().get_u16() == suite.0)
}

/// Returns the library's schemes to verify, in this order.
pub(crate) fn schemes(
    wanted: &[SignatureScheme],
) -> Result<Vec<rustls::SignatureScheme>, SetupError> {
    let known = |it: SignatureScheme| verifies(it).then(|| it.0.into());
    all_of(wanted, known, |it| unsupported("verification of", it))
}

pub(crate) fn versions(
    versions: &[TlsVersion],
) -> Result<Vec<&'static SupportedProtocolVersion>, SetupError> {
    versions
        .iter()
        .map(|version| match version {
            TlsVersion::Tls12 => Ok(&TLS12),
            TlsVersion::Tls13 => Ok(&TLS13),
            other => Err(unsupported("version", other)),
        })
        .collect()
}

/// Sets the sessions that a client keeps.
#[cfg(not(feature = "rustls-0-20"))]
pub(crate) fn keep_client_sessions(config: &mut ClientConfig, kind: HandshakeKind) {
    config.resumption = match kind {
        HandshakeKind::Full => Resumption::disabled(),
        HandshakeKind::SessionId | HandshakeKind::Ticket => {
            Resumption::in_memory_sessions(KEPT_SESSIONS)
        }
    };
}

/// Sets the sessions that a client keeps.
#[cfg(feature = "rustls-0-20")]
pub(crate) fn keep_client_sessions(config: &mut ClientConfig, kind: HandshakeKind) {
    config.session_storage = match kind {
        HandshakeKind::Full => Arc::new(NoClientSessionStorage {}),
        HandshakeKind::SessionId | HandshakeKind::Ticket => {
            ClientSessionMemoryCache::new(KEPT_SESSIONS)
        }
    };
}

/// Sets the sessions that a server keeps. Without a store and a ticketer, it sends no ticket.
pub(crate) fn keep_server_sessions(
    config: &mut ServerConfig,
    kind: HandshakeKind,
) -> Result<(), SetupError> {
    config.session_storage = Arc::new(NoServerSessionStorage {});
    // rustls 0.20 sends one ticket, and has no setting for the number.
    #[cfg(not(feature = "rustls-0-20"))]
    {
        config.send_tls13_tickets = match kind {
            HandshakeKind::Full => 0,
            HandshakeKind::SessionId | HandshakeKind::Ticket => netbench_worker::TICKETS,
        };
    }
    match kind {
        HandshakeKind::Full => {}
        HandshakeKind::SessionId => {
            config.session_storage = ServerSessionMemoryCache::new(KEPT_SESSIONS);
        }
        HandshakeKind::Ticket => config.ticketer = ticketer()?,
    }
    Ok(())
}

pub(crate) fn ticketer() -> Result<Arc<dyn ProducesTickets>, SetupError> {
    Ticketer::new().map_err(refused("ticketer"))
}

pub(crate) fn unsupported(what: &str, name: impl std::fmt::Display) -> SetupError {
    SetupError::Unsupported(format!("no {what} {name} in {LINE}"))
}
