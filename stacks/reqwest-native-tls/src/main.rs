//! The worker of `reqwest-native-tls`: reqwest with its feature `native-tls`. On Linux that is OpenSSL, here the one that the stack
//! `openssl` has. All of it is in `netbench_stack_reqwest`.

use std::{process::ExitCode, sync::Arc};

use netbench_stack_reqwest::NativeTls;

fn main() -> ExitCode {
    netbench_worker::run(vec![Arc::new(NativeTls::new(env!("CARGO_BIN_NAME")))])
}
