//! The worker of the next line of rustls, before its release: `rustls@0.24-dev`, with ring.
//!
//! There is no tokio-rustls and no hyper-rustls for it: `stream.rs` has the function of tokio-rustls, and
//! `client.rs` and `server.rs` use it. This package must never set a value that was not given. Start reading
//! at `stack.rs`; `settings.rs` selects the used parts of the provider, `in_memory.rs` drives sessions,
//! `crypto.rs` calls its cryptography.

mod chain;
mod client;
mod crypto;
mod explain;
mod in_memory;
mod names;
mod server;
mod settings;
mod stack;
mod stream;

use std::{process::ExitCode, sync::Arc};

fn main() -> ExitCode {
    netbench_worker::run(vec![Arc::new(stack::NextLine::new())])
}
