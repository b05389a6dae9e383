//! The worker of `s2n-tls`: s2n-tls with AWS-LC, through s2n-tls-hyper as a client and s2n-tls-tokio as a server.
//!
//! This package must never set a value that was not given. Start reading at `stack.rs`; `client.rs`,
//! `server.rs` and `in_memory.rs` set s2n-tls up with policies from `policy.rs`, `negotiated.rs` and
//! `explain.rs` translate, `fips.rs` proves the variant `+fips`, and only `ffi.rs` uses features that the
//! crate does not expose.

mod client;
mod explain;
mod ffi;
mod fips;
mod in_memory;
mod negotiated;
mod policy;
mod server;
mod stack;
mod tickets;

use std::{process::ExitCode, sync::Arc};

fn main() -> ExitCode {
    netbench_worker::run(vec![Arc::new(stack::S2n::new())])
}
