//! rustls as a stack: hyper-rustls as a client, tokio-rustls as a server, and sessions in memory.
//!
//! This crate must never choose a setting that it was not given. Start reading at `stack.rs`;
//! `client.rs`, `server.rs` and `in_memory.rs` set rustls up with what `provider.rs` has, `unbuffered.rs` drives
//! sessions through rustls' other interface, `names.rs` translates.

mod client;
mod explain;
mod in_memory;
mod names;
mod provider;
mod server;
mod set_up;
mod stack;
mod unbuffered;

pub use provider::Provider;
pub use stack::{Interface, Rustls};
