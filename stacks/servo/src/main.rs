//! The worker of `servo`: the TLS configuration, verifier and connector of Servo's network stack, from its crate servo-net.
//!
//! Servo takes its cryptography from the default provider of the process, which its embedder installs. Start
//! reading at `stack.rs`; `client.rs` makes the connector as servo-net does, and `page.rs` loads pages as
//! Servo's embedder does. `netbench_stack_rustls` installs the provider, and observes the values that
//! servo-net does not report.

mod client;
mod page;
mod provider;
mod stack;

use std::{process::ExitCode, sync::Arc};

use client::Trust;
use stack::Servo;

fn main() -> ExitCode {
    netbench_worker::run(vec![
        Arc::new(Servo::new(Trust::Platform)),
        Arc::new(Servo::new(Trust::WebpkiRoots)),
    ])
}
