//! The worker of `s2n-tls`: s2n-tls with AWS-LC.

use std::process::ExitCode;

use netbench_stack_s2n_tls::{Libcrypto, work};

fn main() -> ExitCode {
    work(env!("CARGO_BIN_NAME"), Libcrypto::AwsLc)
}
