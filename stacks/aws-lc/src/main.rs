//! The worker of `aws-lc`: AWS-LC's libssl behind the openssl crate, with hyper-openssl as a client and tokio-openssl as a server.
//!
//! This package must never load trust roots or settings other than the given ones. Start reading at
//! `stack.rs`; `client.rs`, `settings.rs`, `server.rs`, `negotiated.rs`, `explain.rs` and `ffi.rs` have the
//! differences from OpenSSL.

// The modules that call the same functions as OpenSSL's worker share its source.
#[path = "../../openssl/src/alpn.rs"]
mod alpn;
#[path = "../../openssl/src/chain.rs"]
mod chain;
mod client;
#[path = "../../openssl/src/context.rs"]
mod context;
mod explain;
mod ffi;
#[path = "../../openssl/src/identity.rs"]
mod identity;
#[path = "../../openssl/src/in_memory.rs"]
mod in_memory;
mod names;
mod negotiated;
#[path = "../../openssl/src/piped.rs"]
mod piped;
mod preference;
mod server;
mod settings;
#[path = "../../openssl/src/signing.rs"]
mod signing;
mod stack;
#[path = "../../boringssl/src/ticketed.rs"]
mod ticketed;
#[path = "../../openssl/src/trust.rs"]
mod trust;

use std::{process::ExitCode, sync::Arc};

fn main() -> ExitCode {
    netbench_worker::run(vec![Arc::new(stack::AwsLc)])
}
