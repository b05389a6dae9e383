//! The BoGo shim of OpenSSL: the openssl crate, and libssl's own functions where the crate has no call.
//!
//! `context.rs` has what belongs to all connections and the callbacks, `setup.rs` what belongs to one,
//! `connection.rs` takes it through the exchange, `expect.rs` compares.

mod clock;
mod connection;
mod context;
mod expect;
mod ffi;
mod names;
mod setup;
mod state;
mod wire;

use std::process::ExitCode;

use openssl::ssl::SslSession;

use crate::{Failure, OptionSets, exchange::exchange, socket::Socket};

use self::{connection::Connection, state::state};

/// What OpenSSL's interface can express.
const SUPPORTED: &[&str] = &[
    "-port",
    "-shim-id",
    "-ipv6",
    "-server",
    "-dtls",
    "-trust-cert",
    "-cert-file",
    "-key-file",
    "-resume-count",
    "-async",
    "-implicit-handshake",
    "-resumption-delay",
    // Versions, suites, groups, signatures.
    "-min-version",
    "-max-version",
    "-expect-version",
    "-no-tls1",
    "-no-tls11",
    "-no-tls12",
    "-no-tls13",
    "-cipher",
    "-tls13-ciphers",
    "-expect-cipher",
    "-server-preference",
    "-curves",
    "-expect-curve-id",
    "-expect-hrr",
    "-expect-no-hrr",
    "-signing-prefs",
    "-verify-prefs",
    "-expect-peer-signature-algorithm",
    "-expect-extended-master-secret",
    "-fallback-scsv",
    "-key-shares",
    "-psk",
    "-psk-identity",
    // Certificates.
    "-verify-peer",
    "-verify-fail",
    "-expect-verify-result",
    "-use-custom-verify-callback",
    "-require-any-client-certificate",
    "-expect-no-peer-cert",
    "-expect-peer-cert-file",
    "-use-early-callback",
    "-fail-early-callback",
    "-use-old-client-cert-callback",
    "-fail-cert-callback",
    "-use-client-ca-list",
    "-expect-client-ca-list",
    "-expect-certificate-types",
    "-new-x509-credential",
    "-expect-selected-credential",
    "-enable-ocsp-stapling",
    "-ocsp-response",
    "-expect-ocsp-response",
    "-use-ocsp-callback",
    "-set-ocsp-in-callback",
    "-decline-ocsp-callback",
    "-fail-ocsp-callback",
    "-max-cert-list",
    "-new-rpk-credential",
    "-accepted-peer-cert-types",
    "-available-client-cert-types",
    "-expect-peer-certificate-type",
    "-expect-peer-rpk-sha256",
    // Names and protocols.
    "-host-name",
    "-expect-server-name",
    "-expect-no-server-name",
    "-no-server-name-ack",
    "-advertise-alpn",
    "-select-alpn",
    "-expect-alpn",
    "-decline-alpn",
    "-reject-alpn",
    "-expect-advertised-alpn",
    "-select-empty-alpn",
    "-advertise-npn",
    "-advertise-empty-npn",
    "-select-next-proto",
    "-select-empty-next-proto",
    "-expect-next-proto",
    "-expect-no-next-proto",
    "-srtp-profiles",
    // Sessions and early data.
    "-expect-session-miss",
    "-expect-no-session",
    "-expect-session-id",
    "-expect-no-session-id",
    "-no-ticket",
    "-expect-ticket-renewal",
    "-expect-ticket-supports-early-data",
    "-enable-early-data",
    "-expect-accept-early-data",
    "-expect-reject-early-data",
    "-expect-no-offer-early-data",
    // Renegotiation.
    "-renegotiate-freely",
    "-expect-total-renegotiations",
    "-expect-secure-renegotiation",
    "-expect-no-secure-renegotiation",
    "-no-legacy-server-connect",
    // Data and its end.
    "-shim-writes-first",
    "-shim-initial-write",
    "-repeat-shim-initial-write",
    "-read-size",
    "-write-different-record-sizes",
    "-read-with-unfinished-write",
    "-partial-write",
    "-peek-then-read",
    "-max-send-fragment",
    "-shim-shuts-down",
    "-check-close-notify",
    "-key-update",
    "-key-update-before-read",
    "-export-keying-material",
    "-export-label",
    "-export-context",
    "-use-export-context",
    "-export-traffic-secrets",
    "-tls-unique",
    "-handshake-never-done",
    "-expect-msg-callback",
    // DTLS.
    "-mtu",
    "-initial-timeout-duration-ms",
];

/// Runs the shim.
pub fn main() -> ExitCode {
    crate::run(SUPPORTED, connections)
}

fn connections(sets: &OptionSets) -> Result<(), Failure> {
    let context = context::make(&sets.initial)?;
    let mut session: Option<SslSession> = None;
    for connection in 0..=sets.initial.number("-resume-count").unwrap_or(0) {
        let resume = connection > 0;
        let options = if resume { &sets.resume } else { &sets.initial };
        if resume && !options.on("-server") && session.is_none() {
            return Err(Failure::failed("No session to offer."));
        }
        *state() = state::State {
            options: options.clone(),
            ..Default::default()
        };
        // What is loaded later, in a callback, has to be expressible too.
        setup::load(options)?;
        let ssl = setup::ssl(&context, options, session.as_ref())?;
        let socket = Socket::connect(options)?;
        let mut endpoint = Connection::new(ssl, socket, options, resume)?;
        match exchange(&mut endpoint, options) {
            Err(Failure::EarlyDataRejected) => {
                state().options = sets.retry.clone();
                endpoint.retry(&sets.retry);
                exchange(&mut endpoint, &sets.retry)?;
            }
            other => other?,
        }
        session = state().session.take();
        let delay_s = options.number("-resumption-delay").unwrap_or(0);
        clock::pass(std::time::Duration::from_secs(
            u64::try_from(delay_s).unwrap_or(0),
        ));
    }
    Ok(())
}
