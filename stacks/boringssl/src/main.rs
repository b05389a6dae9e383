//! The worker of `boringssl`: hyper-boring as a client, tokio-boring as a server.
//!
//! This package must never load trust roots or settings other than the given ones. Start reading at
//! `stack.rs`; `client.rs`, `server.rs` and `in_memory.rs` set BoringSSL up, `settings.rs` has their common
//! settings, `negotiated.rs` and `explain.rs` translate. `ech.rs` is for servers.

mod chain;
mod client;
mod ech;
mod explain;
mod in_memory;
mod names;
mod negotiated;
mod piped;
mod server;
mod settings;
mod signing;
mod stack;

use std::{process::ExitCode, sync::Arc};

fn main() -> ExitCode {
    netbench_worker::run(vec![Arc::new(stack::BoringSsl)])
}
