//! The BoGo shim of OpenSSL: the openssl crate, and libssl's own functions where the crate has no call.
//!
//! `context.rs` sets up what all connections share, `setup.rs` what belongs to one; `callbacks.rs` is what
//! libssl calls. `connection.rs` takes a connection through the exchange, `quic.rs` does that over QUIC, and
//! `expect.rs` compares the outcome with what the test expects.

mod callbacks;
mod certs;
mod clock;
mod connection;
mod context;
mod errors;
mod expect;
mod ffi;
mod names;
mod quic;
mod quic_ffi;
mod setup;
mod state;
mod wire;

use std::process::ExitCode;

use openssl::ssl::SslSession;

use crate::{Failure, OptionSets, exchange, flags, socket::Socket};

use self::{connection::Connection, quic::Quic, state::state};

/// What OpenSSL's interface can express beside [`flags::COMMON`].
const SUPPORTED: &[&str] = &[
    "-dtls",
    // Versions, suites, groups, signatures.
    "-cipher",
    "-fallback-scsv",
    "-key-shares",
    "-psk",
    "-psk-identity",
    // Certificates.
    "-fail-early-callback",
    "-fail-cert-callback",
    "-expect-certificate-types",
    "-max-cert-list",
    // Names and protocols.
    "-no-server-name-ack",
    "-select-empty-alpn",
    "-advertise-npn",
    "-advertise-empty-npn",
    "-select-next-proto",
    "-select-empty-next-proto",
    "-expect-next-proto",
    "-expect-no-next-proto",
    "-srtp-profiles",
    // Renegotiation.
    "-renegotiate-freely",
    "-expect-total-renegotiations",
    "-expect-secure-renegotiation",
    "-expect-no-secure-renegotiation",
    "-no-legacy-server-connect",
    // Data and its end.
    "-partial-write",
    "-tls-unique",
    "-expect-msg-callback",
    // DTLS.
    "-mtu",
    "-initial-timeout-duration-ms",
];

/// Runs the shim.
pub fn main() -> ExitCode {
    crate::run(&[flags::COMMON, SUPPORTED], connections)
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
        certs::load(options)?;
        let ssl = setup::ssl(&context, options, session.as_ref())?;
        let socket = Socket::connect(options)?;
        let on_retry = || state().options = sets.retry.clone();
        if options.on("-quic") {
            let endpoint = Quic::new(ssl, socket, options, resume)?;
            exchange::connection(endpoint, options, sets, on_retry)?;
        } else {
            let endpoint = Connection::new(ssl, socket, options, resume)?;
            exchange::connection(endpoint, options, sets, on_retry)?;
        }
        session = state().session.take();
        let delay_s = options.number("-resumption-delay").unwrap_or(0);
        clock::pass(std::time::Duration::from_secs(
            u64::try_from(delay_s).unwrap_or(0),
        ));
    }
    Ok(())
}
