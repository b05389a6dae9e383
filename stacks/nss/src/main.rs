//! The worker of `nss`: the system's NSS, with a connector for hyper that is in this package, and as a server.
//!
//! This package must never set a value that was not given. Start reading at `stack.rs`; `client.rs`,
//! `server.rs` and `in_memory.rs` make configurations and sessions from the types of `settings.rs`,
//! `config.rs` and `session.rs`; `io_layer.rs` is the layer that the library reads from and writes to;
//! `signing.rs`, `exchange.rs` and `records.rs` are the cryptography beneath; `ech.rs` is Encrypted
//! ClientHello, `negotiated.rs` and `explain.rs` translate, and `ffi.rs` and `pk11.rs` declare the used functions of the library.

mod certificates;
mod chain;
mod client;
mod config;
mod ech;
mod exchange;
mod explain;
mod ffi;
mod in_memory;
mod io_layer;
mod library;
mod negotiated;
mod pk11;
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
    netbench_worker::run(vec![Arc::new(stack::Nss)])
}
