//! The worker of `openssl`: OpenSSL 3.5 LTS built from source, with hyper-openssl, and as a server; with
//! NETBENCH_OPENSSL in the environment of its build, the worker of `openssl@3.0` and other lines.

use std::process::ExitCode;

use netbench_stack_openssl::{Library, work};

fn main() -> ExitCode {
    work(Library::Vendored, env!("CARGO_BIN_NAME"))
}
