//! s2n-tls as a stack: s2n-tls-hyper as a client, s2n-tls-tokio as a server, and sessions in memory. The
//! workers of `s2n-tls` and `s2n-tls-openssl` differ only in the linked libcrypto.
//!
//! This crate must never set a value that was not given. Start reading at `stack.rs`; `client.rs`,
//! `server.rs` and `in_memory.rs` set s2n-tls up with policies from `policy.rs`, `negotiated.rs` and
//! `explain.rs` translate, `libcrypto.rs` and `fips.rs` prove the cryptography, and only `ffi.rs` uses
//! features that the crate s2n-tls does not expose.

mod client;
mod explain;
mod ffi;
mod fips;
mod in_memory;
mod libcrypto;
mod negotiated;
mod policy;
mod server;
mod stack;
mod tickets;

use std::{process::ExitCode, sync::Arc};

pub use libcrypto::Libcrypto;

/// Runs a worker's whole `main`, if s2n-tls is linked with `libcrypto`.
pub fn work(executable: &'static str, libcrypto: Libcrypto) -> ExitCode {
    let linked = ffi::libcrypto_version();
    if !libcrypto.is(&linked) {
        eprintln!(
            "{executable} was built to be s2n-tls with {libcrypto}, and is linked with {linked}; \
             build its package alone, with its own lock file"
        );
        return ExitCode::FAILURE;
    }
    netbench_worker::run(vec![Arc::new(stack::S2n::new(executable, libcrypto))])
}
