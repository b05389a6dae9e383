//! The BoGo shim of the next line of rustls: its public interface, without any other implementation of TLS.
//!
//! The shim of the released line is `bogo-shims/src/shim_rustls`. Both have the same flags, and [`netbench_bogo_shims::of_rustls`]
//! has all that needs no type of rustls.

mod certs;
mod compress;
mod config;
mod connection;
mod provider;
mod sessions;

use std::process::ExitCode;

fn main() -> ExitCode {
    netbench_bogo_shims::of_rustls::run::<config::Configs>()
}
