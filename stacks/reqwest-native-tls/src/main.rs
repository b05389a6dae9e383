//! The worker of `reqwest-native-tls`: reqwest with its feature `native-tls`. On Linux, this feature uses
//! OpenSSL, here that of the stack `openssl`. All of its code is in `netbench_stack_reqwest`.

use std::{process::ExitCode, sync::Arc};

use netbench_stack_reqwest::NativeTls;

fn main() -> ExitCode {
    netbench_worker::run(vec![Arc::new(NativeTls::new(env!("CARGO_BIN_NAME")))])
}
