//! The BoGo shim of rustls: rustls' public interface, without any other implementation of TLS.
//!
//! `config.rs` turns options into configurations, `tls.rs` and `quic.rs` have the connections. The shim of the next line of
//! rustls, in `bogo-shims/rustls-dev`, shares `always.rs`, `compress.rs`, `expect.rs` and `observed.rs`, and has an `api.rs` of
//! its own.

mod always;
mod api;
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

use crate::{Failure, OptionSets, exchange, socket::Socket};

use self::{always::LACKING, config::Configs, expect::Expect, quic::Quic, tls::Tls};

/// Runs the shim.
pub fn main() -> ExitCode {
    crate::run("rustls", LACKING, connections)
}

fn connections(sets: &OptionSets) -> Result<(), Failure> {
    sets.same_early_data_context()?;
    let mut configs = Configs::new(sets)?;
    for (options, resume) in sets.connections() {
        always::take_for_granted(options);
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
