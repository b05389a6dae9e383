//! The worker of `openssl-system`: the system's libssl, with hyper-openssl, and as a server.
//!
//! Build it alone (`cargo build --release -p netbench-stack-openssl-system`): built together with
//! the worker of `openssl`, Cargo gives both the library that is built from source.

use std::process::ExitCode;

use netbench_stack_openssl::{Library, work};

fn main() -> ExitCode {
    work(Library::System, env!("CARGO_BIN_NAME"))
}
