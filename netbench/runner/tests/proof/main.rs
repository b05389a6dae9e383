//! Tests that the runner catches lying workers: no figure is stored without proof.
//!
//! This executable is also the worker (`fake.rs`). In every test one stack is honest and the other lies in one way,
//! about one site or one scenario: exactly the samples of that site or scenario fail, with the class and the reason
//! that reports group by; the honest stack and all other samples are measured as usual.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod connect;
mod fake;
mod suite;

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    if words.next().as_deref() == Some(fake::WORD) {
        return fake::work(&words.collect::<Vec<_>>());
    }
    netbench_testing::run(connect::tests().into_iter().chain(suite::tests()))
}
