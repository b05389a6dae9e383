//! reqwest as its users meet it: its client, its connector, and the TLS configuration that its builder makes.
//!
//! reqwest makes TCP connections by itself and shows nobody the socket or the session. Start reading at `rustls.rs`, or at
//! `native_tls.rs` for the other TLS library; `client.rs` makes the client and takes the times that reqwest has hooks for,
//! `calls.rs` sees the socket in what the worker asks the system, and `transcript.rs` the handshake in what rustls hashes.

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

/// A package with its version, of those that this workspace is built with.
fn package_version(package: &str) -> String {
    let version = netbench_worker::locked_version(include_str!("../../../Cargo.lock"), package);
    format!("{package} {}", version.unwrap_or_default())
}
