//! The BoGo shim of rustls: rustls' public interface, and nothing of TLS beside it.
//!
//! `config.rs` turns options into configurations, `tls.rs` and `quic.rs` are the connections.

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

use crate::{Failure, OptionSets, exchange, flags, socket::Socket};

use self::{config::Configs, expect::Expect, quic::Quic, tls::Tls};

/// What rustls' interface can express beside [`flags::COMMON`].
const SUPPORTED: &[&str] = &[
    // Certificates.
    "-install-cert-compression-algs",
    "-install-one-cert-compression-alg",
    // Names and protocols.
    "-allow-unknown-alpn-protos",
    // Sessions and early data.
    "-use-ticket-callback",
    "-skip-ticket",
    // Encrypted ClientHello, as a client.
    "-ech-config-list",
    "-enable-ech-grease",
    "-expect-ech-accept",
    "-expect-ech-retry-configs",
    "-expect-no-ech-retry-configs",
    "-expect-ech-name-override",
    "-expect-no-ech-name-override",
];

/// Runs the shim.
pub fn main() -> ExitCode {
    crate::run(&[flags::COMMON, SUPPORTED], connections)
}

fn connections(sets: &OptionSets) -> Result<(), Failure> {
    let mut configs = Configs::new(sets)?;
    for connection in 0..=sets.initial.number("-resume-count").unwrap_or(0) {
        let resume = connection > 0;
        let options = if resume { &sets.resume } else { &sets.initial };
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
            exchange::connection(Quic::new(made, socket, expect)?, options, sets, || ())?;
        } else {
            exchange::connection(Tls::new(made, socket, expect)?, options, sets, || ())?;
        }
        let delay_s = options.number("-resumption-delay").unwrap_or(0);
        configs.pass_time(u64::try_from(delay_s).unwrap_or(0));
    }
    Ok(())
}
