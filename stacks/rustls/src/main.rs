//! The worker of `rustls-ring` and `rustls-aws-lc`: rustls with hyper-rustls, and as a server.
//!
//! Start reading at `stack.rs`; `client.rs` and `server.rs` set rustls up, `names.rs` translates.

mod client;
mod explain;
mod names;
mod server;
mod stack;

use std::{process::ExitCode, sync::Arc};

use stack::{Provider, Rustls};

fn main() -> ExitCode {
    netbench_worker::run(vec![
        Arc::new(Rustls::new(Provider::Ring)),
        Arc::new(Rustls::new(Provider::AwsLc)),
    ])
}
