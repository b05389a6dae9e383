//! The BoGo shim of rustls: rustls' public interface, without any other implementation of TLS.
//!
//! `config.rs` turns options into configurations, `tls.rs` and `quic.rs` have the connections.

mod certs;
mod compress;
mod config;
mod expect;
mod observed;
mod provider;
mod quic;
mod sessions;
mod tls;

use std::process::ExitCode;

use crate::{Failure, Lacking, OptionSets, exchange, socket::Socket};

use self::{config::Configs, expect::Expect, quic::Quic, tls::Tls};

const LACKING: &[Lacking] = &[
    Lacking {
        named: "tls TLS1",
        name: "TLS 1.0",
    },
    Lacking {
        named: "tls TLS11",
        name: "TLS 1.1",
    },
];

/// Flags whose behaviour rustls has in any case, with the reason.
const ALWAYS: &[(&str, &str)] = &[
    ("-no-tls1", "rustls has no TLS 1.0"),
    ("-no-tls11", "rustls has no TLS 1.1"),
    (
        "-use-custom-verify-callback",
        "a verifier is always an object of the application's",
    ),
];

const ALWAYS_AS_CLIENT: &[(&str, &str)] = &[
    (
        "-enable-ocsp-stapling",
        "a client always asks for a response",
    ),
    (
        "-use-old-client-cert-callback",
        "the certificate comes from a call of the resolver's, once the server asks for it",
    ),
    (
        "-renegotiate-ignore",
        "requests to renegotiate are declined, and the connection goes on",
    ),
];

const ALWAYS_AS_SERVER: &[(&str, &str)] = &[
    (
        "-use-early-callback",
        "the certificate comes from a call of the resolver's, which is given the ClientHello",
    ),
    (
        "-set-ocsp-in-callback",
        "the response to staple comes from that call too",
    ),
];

/// Runs the shim.
pub fn main() -> ExitCode {
    crate::run("rustls", LACKING, connections)
}

fn connections(sets: &OptionSets) -> Result<(), Failure> {
    sets.same_early_data_context()?;
    let mut configs = Configs::new(sets)?;
    for (options, resume) in sets.connections() {
        options.take_for_granted(ALWAYS);
        options.take_for_granted(if options.on("-server") {
            ALWAYS_AS_SERVER
        } else {
            ALWAYS_AS_CLIENT
        });
        if resume && !options.on("-server") && !configs.has_session() {
            return Err(Failure::failed("No session to offer."));
        }
        let expect = Expect {
            options,
            resume,
            observed: configs.begin(),
        };
        let made = configs.connection(options)?;
        let socket = Socket::connect(options)?;
        if options.on("-quic") {
            exchange::connection(Quic::new(made, socket, expect)?, options, sets)?;
        } else {
            exchange::connection(Tls::new(made, socket, expect)?, options, sets)?;
        }
        configs.pass_time(options.resumption_delay().as_secs());
    }
    Ok(())
}
