//! The worker of `gnutls`: the system's GnuTLS, with a connector for hyper that is in this package, and as a server.
//!
//! This package must never set a value that was not given. Start reading at `stack.rs`; `client.rs`,
//! `server.rs` and `in_memory.rs` make configurations and sessions from the types of `settings.rs`,
//! `config.rs` and `session.rs`; `signing.rs` and `records.rs` are the cryptography beneath; `negotiated.rs`
//! and `explain.rs` translate, and `ffi.rs` declares the used functions of the library.

mod chain;
mod client;
mod config;
mod explain;
mod ffi;
mod in_memory;
mod negotiated;
mod records;
mod server;
mod session;
mod settings;
mod signing;
mod stack;
mod tickets;
mod verify;

use std::{process::ExitCode, sync::Arc};

fn main() -> ExitCode {
    netbench_worker::run(vec![Arc::new(stack::GnuTls)])
}
