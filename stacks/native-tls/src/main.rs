//! The worker of `native-tls`: the crate native-tls with hyper-tls, as its users have them. On Linux it is OpenSSL, here the one that the
//! stack `openssl` has.
//!
//! native-tls has no setting for cipher suites, groups and signature schemes, so it is measured with its own. Start reading at `stack.rs`;
//! `client.rs` makes the connector. What native-tls does not tell, `netbench_stack_openssl::watch` sees.

mod client;
mod stack;

use std::{process::ExitCode, sync::Arc};

use stack::NativeTls;

fn main() -> ExitCode {
    netbench_worker::run(vec![Arc::new(NativeTls::new(env!("CARGO_BIN_NAME")))])
}
