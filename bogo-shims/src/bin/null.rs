//! A shim that does nothing and fails: a test that it passes proves nothing about a stack.

use std::process::ExitCode;

fn main() -> ExitCode {
    if std::env::args_os().any(|arg| arg == "-is-handshaker-supported") {
        netbench_bogo_shims::say_no_handshaker();
        return ExitCode::SUCCESS;
    }
    ExitCode::FAILURE
}
