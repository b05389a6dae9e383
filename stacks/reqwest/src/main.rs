//! The worker of `reqwest`: reqwest with its defaults, which are rustls, AWS-LC and the platform's verifier.

use std::{process::ExitCode, sync::Arc};

use netbench_stack_reqwest::Rustls;

fn main() -> ExitCode {
    netbench_worker::run(vec![Arc::new(Rustls::new(env!("CARGO_BIN_NAME")))])
}
