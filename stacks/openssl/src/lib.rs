//! OpenSSL as a stack: hyper-openssl as a client, tokio-openssl as a server.
//!
//! This crate must never load trust roots or settings but those that it is given. Start reading at
//! `stack.rs`; `client.rs` and `server.rs` set OpenSSL up, `names.rs` translates.

mod client;
mod explain;
mod ffi;
mod names;
mod server;
mod stack;

use std::{process::ExitCode, sync::Arc};

pub use stack::Library;

/// A worker's whole `main`, for the libssl that it is linked with.
pub fn work(library: Library, executable: &'static str) -> ExitCode {
    let linked = if cfg!(feature = "vendored") {
        Library::Vendored
    } else {
        Library::System
    };
    if library != linked {
        eprintln!(
            "{executable} was built together with another libssl and would measure that one; \
             build its package alone"
        );
        return ExitCode::FAILURE;
    }
    netbench_worker::run(vec![Arc::new(stack::OpenSsl::new(library, executable))])
}
