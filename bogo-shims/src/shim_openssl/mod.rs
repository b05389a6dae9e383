//! The BoGo shim of OpenSSL: the openssl crate, and libssl's own functions where the crate has no call. The
//! library is the one that is built from source, or the system's, from 3.0 on.
//!
//! `context.rs` sets up the common state of all connections, `setup.rs` that of one; `callbacks.rs` has the
//! functions that libssl calls. `connection.rs` takes a connection through the exchange, `quic.rs` does that
//! over QUIC, and `expect.rs` compares the outcome with the test's expectations.

mod callbacks;
mod certs;
mod clock;
mod connection;
mod context;
mod ech;
mod errors;
mod expect;
mod ffi;
mod library;
mod names;
mod newer;
mod quic;
mod quic_ffi;
mod releases;
mod setup;
mod state;
mod wire;

use std::process::ExitCode;

use openssl::ssl::SslSession;

use crate::{Failure, Lacking, OptionSets, exchange, socket::Socket};

use self::{connection::Connection, expect::Expect, quic::Quic, state::state};

/// The protocols that OpenSSL lacks. OpenSSL 4.0 has no DTLS 1.3 either.
const LACKING: &[Lacking] = &[("dtls TLS13", "DTLS 1.3")];

/// Flags whose behaviour libssl has as a server in any case: the response to staple always comes from a callback.
const ALWAYS_AS_SERVER: &[&str] = &["-set-ocsp-in-callback"];

/// Flags whose behaviour libssl has in DTLS in any case: there is no DTLS 1.1, and libssl has no DTLS 1.3.
const ALWAYS_OVER_DATAGRAMS: &[&str] = &["-no-tls11", "-no-tls13"];

/// Flags whose values a callback of the shim returns when libssl calls it, which libssl need not do.
const ANSWERS: &[&str] = &[
    // To the question whether a certificate is right.
    "-verify-fail",
    // To the question which protocol to choose.
    "-select-alpn",
    "-decline-alpn",
    "-reject-alpn",
    // To the question which protocols to offer.
    "-advertise-npn",
    "-advertise-empty-npn",
];

/// Runs the shim.
pub fn main() -> ExitCode {
    if std::env::args_os().any(|arg| arg == library::ASKED) {
        library::say();
        return ExitCode::SUCCESS;
    }
    crate::run("openssl", LACKING, connections)
}

fn connections(sets: &OptionSets) -> Result<(), Failure> {
    sets.same_early_data_context()?;
    let context = context::make(&sets.initial)?;
    let mut session: Option<SslSession> = None;
    for (options, resume) in sets.connections() {
        releases::refuse(options)?;
        options.take_for_granted(ANSWERS);
        if options.on("-server") {
            options.take_for_granted(ALWAYS_AS_SERVER);
        }
        if options.on("-dtls") {
            options.take_for_granted(ALWAYS_OVER_DATAGRAMS);
        }
        if resume && !options.on("-server") && session.is_none() {
            return Err(Failure::failed("No session to offer."));
        }
        *state() = state::State {
            options: options.clone(),
            offered_ticket: session
                .as_ref()
                .map_or_else(Vec::new, |session| ffi::ticket(session)),
            ..Default::default()
        };
        // Certificates that are loaded later, in a callback, must be expressible too.
        certs::load(options)?;
        let ssl = setup::ssl(&context, options, session.as_ref())?;
        let socket = Socket::connect(options)?;
        let expect = Expect { options, resume };
        if options.on("-quic") {
            exchange::connection(Quic::new(ssl, socket, expect)?, options, sets)?;
        } else {
            exchange::connection(Connection::new(ssl, socket, expect)?, options, sets)?;
        }
        session = state().session.take();
        clock::pass(options.resumption_delay());
    }
    Ok(())
}
