//! The worker of a line of rustls before 0.23, with ring, as `rustls@0.22`. rustls 0.20 only supports the
//! suite.
//!
//! The version of rustls with which it is built determines the line. Start reading at `stack.rs`;
//! `in_memory.rs` drives sessions, in the same way in all lines, and `line` sets rustls up, which differs.
//! `client.rs` and `server.rs` connect through tokio-rustls, with the settings of `connect`.

#[cfg(feature = "connect")]
mod chain;
#[cfg(feature = "connect")]
mod client;
mod common;
#[cfg(feature = "connect")]
#[cfg_attr(feature = "rustls-0-21", path = "connect_0_21.rs")]
#[cfg_attr(not(feature = "rustls-0-21"), path = "connect_0_22.rs")]
mod connect;
#[cfg(feature = "connect")]
mod explain;
mod in_memory;
#[cfg_attr(feature = "rustls-0-21", path = "before_0_22.rs")]
#[cfg_attr(not(feature = "rustls-0-21"), path = "rustls_0_22.rs")]
mod line;
#[cfg(feature = "connect")]
mod server;
mod stack;

use std::{process::ExitCode, sync::Arc};

fn main() -> ExitCode {
    netbench_worker::run(vec![Arc::new(stack::Line::new())])
}
