//! The worker of `aws-lc`: AWS-LC's libssl behind the openssl crate, with hyper-openssl as a client and tokio-openssl as a server.
//!
//! This package must never load trust roots or settings other than the given ones. Start reading at
//! `stack.rs`. netbench-libssl has the code that OpenSSL's worker shares, and this package the differences.

mod client;
mod ffi;
mod negotiated;
mod preference;
mod server;
mod settings;
mod stack;

use std::{process::ExitCode, sync::Arc};

fn main() -> ExitCode {
    netbench_worker::run(vec![Arc::new(stack::AwsLc)])
}
