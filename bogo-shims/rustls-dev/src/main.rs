//! The BoGo shim of the next line of rustls: its public interface, without any other implementation of TLS.
//!
//! The shim of the released line is `bogo-shims/src/shim_rustls`. Both have the same flags and share the files that
//! need nothing of rustls' interface but names of types, which `api.rs` has for each line.

#[path = "../../src/shim_rustls/always.rs"]
mod always;
mod api;
mod certs;
#[path = "../../src/shim_rustls/compress.rs"]
mod compress;
mod config;
#[path = "../../src/shim_rustls/expect.rs"]
mod expect;
#[path = "../../src/shim_rustls/observed.rs"]
mod observed;
mod provider;
mod quic;
mod sessions;
mod sided;
mod tls;

use std::process::ExitCode;

use netbench_bogo_shims::{
    Failure, Lacking, OptionSets, Options, exchange, expected, reported, socket::Socket,
};

use self::{always::LACKING, config::Configs, expect::Expect, quic::Quic, tls::Tls};

fn main() -> ExitCode {
    netbench_bogo_shims::run("rustls", LACKING, connections)
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
