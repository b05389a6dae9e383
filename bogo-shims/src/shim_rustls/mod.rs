//! The BoGo shim of rustls: rustls' public interface, without any other implementation of TLS.
//!
//! `config.rs` turns options into configurations, `connection.rs` has the connections. [`crate::of_rustls`] has the rest, also for
//! the shim of the next line of rustls, in `bogo-shims/rustls-dev`.

mod certs;
mod compress;
mod config;
mod connection;
mod provider;
mod sessions;

use std::process::ExitCode;

/// Runs the shim.
pub fn main() -> ExitCode {
    crate::of_rustls::run::<config::Configs>()
}
