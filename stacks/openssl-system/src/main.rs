//! The worker of `openssl-system`: the system's libssl, with hyper-openssl, and as a server.
//!
//! It must be built separately (`cargo build -p netbench-stack-openssl-system`): together
//! with the worker of `openssl`, Cargo links both to the library that is built from source.

use std::process::ExitCode;

use netbench_stack_openssl::{Library, work};

fn main() -> ExitCode {
    work(Library::System, env!("CARGO_BIN_NAME"))
}
