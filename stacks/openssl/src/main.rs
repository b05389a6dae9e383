//! The worker of `openssl`: OpenSSL 3.5 LTS built from source, with hyper-openssl, and as a server.

use std::process::ExitCode;

use netbench_stack_openssl::{Library, work};

fn main() -> ExitCode {
    work(Library::Vendored, env!("CARGO_BIN_NAME"))
}
