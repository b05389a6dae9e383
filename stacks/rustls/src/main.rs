//! The worker of `rustls-ring`, `rustls-aws-lc` and `rustls-aws-lc+unbuffered`.

use std::{process::ExitCode, sync::Arc};

use netbench_stack_rustls::{AwsLc, Ring, Rustls};

fn main() -> ExitCode {
    let executable = env!("CARGO_BIN_NAME");
    netbench_worker::run(vec![
        Arc::new(Rustls::new(&Ring, executable)),
        Arc::new(Rustls::new(&AwsLc, executable)),
        Arc::new(Rustls::new(&AwsLc, executable).unbuffered("rustls-aws-lc+unbuffered")),
    ])
}
