//! The command `netbench`.

use std::process::ExitCode;

fn main() -> ExitCode {
    netbench_cli::main()
}
