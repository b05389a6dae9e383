//! The worker of Bertie: a verified implementation of TLS 1.3 with the cryptography of libcrux.
//!
//! Bertie is a state machine over records and verifies no certificates, so the worker only supports the suite
//! in memory. Start reading at `stack.rs`; `in_memory.rs` drives the state machine, `settings.rs` has its
//! supported settings, and `key.rs` reads keys for it.

mod in_memory;
mod key;
mod settings;
mod stack;

use std::{process::ExitCode, sync::Arc};

use stack::BertieStack;

fn main() -> ExitCode {
    netbench_worker::run(vec![Arc::new(BertieStack)])
}
