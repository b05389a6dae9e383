//! The worker of a line of rustls before 0.23, with ring, as `rustls@0.22`. rustls 0.20 does the suite alone.
//!
//! Which line it is follows from the version of rustls that it is built with. Start reading at `stack.rs`; `in_memory.rs` drives
//! sessions, which is the same in all lines, and `line` sets rustls up, which is not. `client.rs` and `server.rs` connect through
//! tokio-rustls, with what `connect` sets up.

#[cfg(feature = "connect")]
mod chain;
#[cfg(feature = "connect")]
mod client;
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
