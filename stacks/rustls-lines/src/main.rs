//! The worker of a line of rustls before 0.23, with ring, as `rustls@0.22`. rustls 0.20 only supports the
//! suite.
//!
//! The version of rustls with which it is built determines the line. Start reading at `stack.rs`;
//! `in_memory.rs` drives sessions, in the same way in all lines, and `line` sets rustls up, which differs.
//! `client.rs` and `server.rs` connect through tokio-rustls.

#[cfg(feature = "rustls-0-21")]
mod before_0_22;
#[cfg(feature = "connect")]
mod client;
mod common;
#[cfg(feature = "connect")]
mod explain;
mod in_memory;
#[cfg(not(feature = "rustls-0-21"))]
mod rustls_0_22;
#[cfg(feature = "connect")]
mod server;
mod stack;

#[cfg(feature = "rustls-0-21")]
use before_0_22 as line;
#[cfg(not(feature = "rustls-0-21"))]
use rustls_0_22 as line;
use std::{process::ExitCode, sync::Arc};

fn main() -> ExitCode {
    netbench_worker::run(vec![Arc::new(stack::Line::new())])
}
