//! The settings that all lines take in the same way.

use std::sync::Arc;

use netbench_tls::{CipherSuite, HandshakeKind, SignatureScheme, TlsVersion};
use netbench_worker::{EndpointSetup, KEPT_SESSIONS, SetupError, supported};
use rustls::{
    CommonState, ServerConfig, SupportedCipherSuite, SupportedProtocolVersion,
    server::{NoServerSessionStorage, ProducesTickets, ServerSessionMemoryCache},
    version::{TLS12, TLS13},
};

use crate::line::{ALL_CIPHER_SUITES, LINE, Ticketer, verifies};

/// Returns the suites of the lab that the library supports.
pub(crate) fn suites() -> Vec<CipherSuite> {
    supported(CipherSuite::SERVED, |suite| library_suite(suite).is_some())
}

/// Returns the library's suites, in this order.
pub(crate) fn cipher_suites(
    wanted: &[CipherSuite],
) -> Result<Vec<SupportedCipherSuite>, SetupError> {
    wanted
        .iter()
        .map(|suite| library_suite(*suite).ok_or_else(|| unsupported("suite", suite)))
        .collect()
}

fn library_suite(suite: CipherSuite) -> Option<SupportedCipherSuite> {
    let mut all = ALL_CIPHER_SUITES.iter().copied();
    all.find(|known| known.suite().get_u16() == suite.0)
}

/// Returns the library's schemes to verify, in this order.
#[cfg(any(feature = "connect", feature = "rustls-0-21"))]
pub(crate) fn schemes(
    wanted: &[SignatureScheme],
) -> Result<Vec<rustls::SignatureScheme>, SetupError> {
    wanted
        .iter()
        .map(|scheme| {
            let known = verifies(*scheme).then(|| rustls::SignatureScheme::from(scheme.0));
            known.ok_or_else(|| unsupported("verification of", scheme))
        })
        .collect()
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

/// Returns the version and the suite of a session.
pub(crate) fn agreed(session: &CommonState) -> (Option<TlsVersion>, Option<CipherSuite>) {
    let version = session.protocol_version();
    let suite = session.negotiated_cipher_suite();
    (
        version.and_then(|version| TlsVersion::of(version.get_u16())),
        suite.map(|suite| CipherSuite(suite.suite().get_u16())),
    )
}

/// Returns the fragment size, in which rustls counts a record's five bytes of header.
pub(crate) fn fragment(setup: &EndpointSetup<'_>) -> Option<usize> {
    setup
        .max_fragment_bytes
        .map(|plaintext| usize::from(plaintext) + 5)
}

/// Sets the sessions that a server keeps. Without a store and a ticketer, it sends no ticket.
pub(crate) fn keep_server_sessions(
    config: &mut ServerConfig,
    kind: HandshakeKind,
) -> Result<(), SetupError> {
    config.session_storage = Arc::new(NoServerSessionStorage {});
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
    Ticketer::new().map_err(|e| SetupError::refused("ticketer", e))
}

pub(crate) fn unsupported(what: &str, name: impl std::fmt::Display) -> SetupError {
    SetupError::Unsupported(format!("no {what} {name} in {LINE}"))
}
