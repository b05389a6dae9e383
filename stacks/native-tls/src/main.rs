//! The worker of `native-tls`: the crate native-tls with hyper-tls, as its users have them. On Linux, it uses
//! OpenSSL, here that of the stack `openssl`.
//!
//! native-tls has no setting for cipher suites, groups and signature schemes, so it is measured with its
//! defaults. Start reading at `stack.rs`; `client.rs` makes the connector. `netbench_stack_openssl::watch`
//! observes the values that native-tls does not report.

mod client;
mod stack;

use std::{process::ExitCode, sync::Arc};

use stack::NativeTls;

fn main() -> ExitCode {
    netbench_worker::run(vec![Arc::new(NativeTls::new(env!("CARGO_BIN_NAME")))])
}
