//! rustls as a stack: hyper-rustls as a client, tokio-rustls as a server, and sessions in memory, with any
//! cryptography provider. Providers with a separate package only implement [`Provider`].
//!
//! This crate must never set a value that was not given. Start reading at `stack.rs`; `client.rs`,
//! `server.rs` and `in_memory.rs` set rustls up with a provider from `provider.rs`, `crypto.rs` calls its
//! cryptography, `unbuffered.rs` drives sessions through rustls' other interface, `early_client.rs`
//! and `early_server.rs` send a request before the end of a handshake, `names.rs` and
//! `explain.rs` translate. `process.rs` and `watch.rs` are for clients that do not expose rustls.

mod chain;
mod client;
mod crypto;
mod early_client;
mod early_server;
mod explain;
mod hello;
mod in_memory;
mod names;
mod plain_client;
pub mod process;
mod provider;
mod server;
mod set_up;
mod stack;
mod trust;
mod unbuffered;
pub mod watch;

#[cfg(feature = "aws-lc")]
pub use provider::AwsLc;
#[cfg(feature = "ring")]
pub use provider::Ring;
pub use provider::{Provider, package_version};
pub use stack::{Rustls, Usage};
