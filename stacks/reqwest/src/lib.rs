//! reqwest as its users use it: its client, its connector, and the TLS configuration that its builder makes.
//!
//! reqwest makes TCP connections itself and exposes neither the socket nor the session. Start reading at
//! `rustls.rs`, or at `native_tls.rs` for the other TLS library; `client.rs` makes the client and takes the
//! times for which reqwest has hooks, `calls.rs` observes the socket in the worker's system calls, and
//! `transcript.rs` the handshake in rustls' hash inputs.

#![cfg(any(feature = "rustls", feature = "native-tls"))]

mod calls;
mod client;
#[cfg(feature = "native-tls")]
mod native_tls;
#[cfg(feature = "rustls")]
mod rustls;
#[cfg(feature = "rustls")]
mod transcript;

#[cfg(feature = "native-tls")]
pub use native_tls::NativeTls;
#[cfg(feature = "rustls")]
pub use rustls::Rustls;

/// Returns a package with its version, from the packages with which this workspace is built.
fn package_version(package: &str) -> String {
    netbench_worker::locked_package(include_str!("../../../Cargo.lock"), package)
}
