//! What every worker must get right: a table of connections that it makes to sites that it serves
//! itself, and connections to and from the `openssl` command, which knows nothing of netbench.
//!
//! For the tests of stacks and for nothing else; it must never know one stack from another but by
//! what its worker says of itself. Start reading at [`conformance`]; `cases.rs` is the table.

mod bench;
mod cases;
mod foreign;
mod judge;

use std::path::Path;

use bench::Bench;

/// Has the worker `program` serve and connect with `stack`, and says what it got wrong.
///
/// Every request has a time limit; all of them take some seconds.
///
/// # Panics
/// The worker does not start or serve, or got anything wrong.
pub fn conformance(program: &Path, stack: &str) {
    let wrong = match Bench::new(program, stack) {
        Ok(mut bench) => bench.run(),
        Err(error) => vec![error],
    };
    assert!(
        wrong.is_empty(),
        "{stack}: {} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

/// Has `stack` connect to `openssl s_server`, and `openssl s_client` to `stack`, and says what went
/// wrong. Without the `openssl` command there is nothing to do, and the answer is why.
///
/// # Panics
/// As [`conformance`].
pub fn foreign_peers(program: &Path, stack: &str) -> Result<(), &'static str> {
    if !foreign::is_installed() {
        return Err("no `openssl` command on this machine");
    }
    let wrong = foreign::run(program, stack).unwrap_or_else(|error| vec![error]);
    assert!(
        wrong.is_empty(),
        "{stack}: {} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    Ok(())
}
